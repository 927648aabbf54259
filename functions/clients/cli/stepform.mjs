#!/usr/bin/env node
// Plain JavaScript, so that a Node that is too old prints a clear error instead of a syntax error at the first type.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ownCopy } from './own-copy.mjs';

const runsTypes = Boolean(process.features.typescript);
const program = realpathSync(fileURLToPath(import.meta.url));
const bundled = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));

const refuse = (reason) => {
  console.error(`stepform: ${reason}`);
  process.exitCode = 1;
};

/** Caches stripped types: halves the start-up time of a command. */
const start = async (root) => {
  module.enableCompileCache(join(root, '.build/command'));
  await import(pathToFileURL(join(root, 'functions/clients/cli/main.ts')).href);
};
const root = fileURLToPath(new URL('../../..', import.meta.url));

if (runsTypes) {
  await start(/[\\/]node_modules[\\/]/.test(program) ? ownCopy(dirname(dirname(dirname(dirname(program))))) : root);
} else if (existsSync(bundled) && process.execPath !== realpathSync(bundled)) {
  // The package brings the Node it is tested with. Ctrl-C reaches both processes; the child decides how to exit.
  const child = spawn(bundled, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);
  });
} else {
  refuse(`Node 24 or newer is required; this is ${process.version}. In a checkout, "npm ci" installs it.`);
}
