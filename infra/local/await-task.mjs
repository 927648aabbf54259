// Loaded by a process that is to become a task's (`node --import`), before its program (spare-process.ts): starts Node, loads
// what nearly every task needs, and waits for the task's environment on standard input. An end without one is the platform's.
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The runner has its program in a file beside the one that begins it (infra/bundle.ts). */
const load = async (file) => {
  if (!existsSync(file)) return undefined;
  const program = await import(pathToFileURL(file).href);
  await program.warmUp();
  return program;
};

const received = [];
process.stdin.on('data', (piece) => received.push(piece));
const [program] = await Promise.all([
  load(join(dirname(process.argv[1] ?? ''), 'program.mjs')),
  once(process.stdin, 'end'),
]);
const environment = Buffer.concat(received).toString();
if (!environment) {
  rmSync(process.cwd(), { recursive: true, force: true });
  process.exit(0);
}
Object.assign(process.env, JSON.parse(environment));
// The task begins now, and counts its time from here.
const { uptime } = process;
const waited = uptime.call(process);
process.uptime = () => uptime.call(process) - waited;
// It ends the process. What Node would begin with takes it 4 ms to find.
await program?.runTask();
