// An OpenID provider by oidc-provider, a certified implementation. FOLDER/users has the users as JSON: {"ann": ["team"]}, each with the
// groups; a password is not checked. Writes FOLDER/port, and takes the client's redirect_uri from FOLDER/redirect_uri before the first request.
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const [folder, alg] = process.argv.slice(2)
const users = () => JSON.parse(readFileSync(`${folder}/users`, 'utf8'))
const jwk = (type, options) => ({ ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), use: 'sig' })

function makeProvider(port) {
  const provider = new Provider(`http://localhost:${port}`, {
    clients: [{
      client_id: 'flopwatch', client_secret: 'client-secret-of-tests', redirect_uris: [readFileSync(`${folder}/redirect_uri`, 'utf8').trim()],
      post_logout_redirect_uris: [readFileSync(`${folder}/redirect_uri`, 'utf8').trim().replace(/callback$/, 'logged-out')],
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], id_token_signed_response_alg: alg,
    }],
    jwks: { keys: [jwk('rsa', { modulusLength: 2048 }), jwk('ec', { namedCurve: 'P-256' })] },
    claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
    scopes: ['openid', 'offline_access', 'profile', 'groups'],
    cookies: { keys: ['cookies of tests'] },
    pkce: { required: () => true },
    findAccount: (_, id) => users()[id] && {
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: users()[id] }),
    },
  })
  provider.on('server_error', (_, error) => console.error(error))
  return provider.callback()
}

let answer
const server = createServer((request, response) => {
  answer ??= makeProvider(server.address().port)
  answer(request, response)
})
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${folder}/port.new`, `${server.address().port}`)
  renameSync(`${folder}/port.new`, `${folder}/port`)
})
