#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for the rest can still say so instead of stumbling over the first type.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const runsTypes = Boolean(process.features.typescript);
const here = realpathSync(fileURLToPath(import.meta.url));
const bundled = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));

const refuse = (why) => {
  console.error(`stepform: ${why}`);
  process.exitCode = 1;
};

if (/[\\/]node_modules[\\/]/.test(here)) {
  refuse('it runs from its own checkout only: "npm install --global <checkout>" links it, or "npx stepform" there.');
} else if (runsTypes) {
  // Types are stripped once, not each time: half of what a command takes to start.
  module.enableCompileCache(fileURLToPath(new URL('../../.build/command', import.meta.url)));
  await import('./main.ts');
} else if (existsSync(bundled) && process.execPath !== realpathSync(bundled)) {
  // The package brings the Node it is tested with. An interrupt reaches both; how it ends is the other one's to decide.
  const child = spawn(bundled, [here, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);
  });
} else {
  refuse(
    `it needs Node 22.19 or newer, and this is ${process.version}. Run "npm ci" in its checkout, which brings one.`,
  );
}
