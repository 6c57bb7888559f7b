// TAP for the browser tests: a failed test prints the reason and the others continue.
let n = 0, failed = 0;

export function result(good, name, detail = "") {
	n++;
	if (!good) failed++;
	console.log(`${good ? "ok" : "not ok"} ${n} - ${name}`);
	if (!good && detail) console.log(String(detail).slice(0, 2000).replace(/^/gm, "#   "));
	return good;
}

export async function test(name, body) {
	try {
		const answer = await body();
		return result(answer !== false, name);
	} catch (error) {
		return result(false, name, error.message);
	}
}

export function end() {
	console.log(`1..${n}`);
	process.exitCode = failed ? 1 : 0;
}
