#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for the rest can still say so instead of stumbling over the first type.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ownCopy } from './own-copy.mjs';

const runsTypes = Boolean(process.features.typescript);
const here = realpathSync(fileURLToPath(import.meta.url));
const bundled = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));

const refuse = (why) => {
  console.error(`stepform: ${why}`);
  process.exitCode = 1;
};

/** Types are stripped once, not each time: half of what a command takes to start. */
const start = async (root) => {
  module.enableCompileCache(join(root, '.build/command'));
  await import(pathToFileURL(join(root, 'functions/cli/main.ts')).href);
};
const root = fileURLToPath(new URL('../..', import.meta.url));

if (runsTypes) {
  await start(/[\\/]node_modules[\\/]/.test(here) ? ownCopy(dirname(dirname(dirname(here)))) : root);
} else if (existsSync(bundled) && process.execPath !== realpathSync(bundled)) {
  // The package brings the Node it is tested with. An interrupt reaches both; how it ends is the other one's to decide.
  const child = spawn(bundled, [here, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);
  });
} else {
  refuse(`it needs Node 24 or newer, and this is ${process.version}. In its checkout, "npm ci" brings one.`);
}
