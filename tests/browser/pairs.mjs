// A page with the pictures of two folders next to each other. Usage: node pairs.mjs BEFORE AFTER FILE [WORD...]
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const [before, after, file, ...words] = process.argv.slice(2);
const pictures = (folder) => readdirSync(folder).filter((name) => name.endsWith(".png"));
const names = [...new Set([...pictures(before), ...pictures(after)])].filter((name) => !words.length || words.some((w) => name.includes(w))).sort();
const bytes = (folder, name) => { try { return readFileSync(join(folder, name)); } catch { return null; } };
const image = (folder, name) => bytes(folder, name) ? `<img loading=lazy alt="" src="${relative(dirname(file), join(folder, name))}">` : "none";
const rows = names.filter((name) => { const [a, b] = [bytes(before, name), bytes(after, name)]; return !a || !b || !a.equals(b); })
	.map((name) => `<tr><th colspan=2>${name}<tr><td>${image(before, name)}<td>${image(after, name)}`);
writeFileSync(file, `<!doctype html><meta charset=utf-8><title>Screenshots before and after</title>
<style>table{width:100%;table-layout:fixed}td{vertical-align:top}img{max-width:100%;border:1px solid}</style>
<table><tr><th>${before}<th>${after}\n${rows.join("\n")}</table>\n`);
console.log(`${file}: ${rows.length} of ${names.length} pictures differ`);
