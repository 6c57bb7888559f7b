// Check a description of an API by Redocly's recommended rules. Usage: node lint.mjs FILE; a line a finding, status 1 with any.
import { lint, loadConfig } from "@redocly/openapi-core";

const config = await loadConfig({ customExtends: ["recommended"] });
const found = await lint({ ref: process.argv[2], config });
for (const p of found) console.log(`${p.severity} ${p.ruleId}: ${p.message} ${p.location?.[0]?.pointer ?? ""}`);
process.exit(found.length > 0 ? 1 : 0);
