#!/usr/bin/env node
// Plain JavaScript, so that a Node that is too old prints a clear error instead of a syntax error at the first type.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const sources = at('functions/clients/cli/main.ts');
const isInstalled = !existsSync(sources);
const bundled = at('node_modules/node/bin/node');

const refuse = (reason) => {
  console.error(`stepform: ${reason}`);
  process.exitCode = 1;
};

const [major, minor] = process.versions.node.split('.').map(Number);

if (isInstalled && (major > 22 || (major === 22 && minor >= 19))) {
  await import('../../../.build/program/functions-clients-cli-main.mjs');
} else if (isInstalled) {
  refuse(`Node 22.19 or newer is required; this is ${process.version}.`);
} else if (process.features.typescript) {
  // Caches stripped types: halves the start-up time of a command.
  module.enableCompileCache(at('.build/command'));
  await import('./main.ts');
} else if (existsSync(bundled) && process.execPath !== realpathSync(bundled)) {
  // The Node of the checkout. Ctrl-C reaches both processes; the child decides how to exit.
  const program = realpathSync(fileURLToPath(import.meta.url));
  const child = spawn(bundled, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);
  });
} else {
  refuse(`A checkout needs Node 24 or newer, which "npm ci" installs; this is ${process.version}.`);
}
