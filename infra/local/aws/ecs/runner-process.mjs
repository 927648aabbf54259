// A process that performs tasks one after another (runner-pool.ts), each in its own folder with its own environment and log.
// Arguments: the module that performs a task, and the file that tells where the platform's ports have moved.
import { closeSync, openSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { followPlatform } from '../../host/follow-platform.mjs';

/** More is given back to the machine by ending the process. */
const maxIdleBytes = 256 * 2 ** 20;

const [program, ports] = process.argv.slice(2);
followPlatform(ports);
const { runTask } = await import(pathToFileURL(program).href);

/** @param log also gets what Node itself writes, which knows only the numbers 1 and 2: open(2) takes the lowest that is free */
const writeTo = (log) => {
  for (const file of [1, 2]) {
    closeSync(file);
    if (openSync(log, 'a', 0o600) !== file) throw new Error(`file ${file} is in use`);
  }
};

const setEnvironment = (environment) => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
};

/** The channel to the platform alone: a task that has left a timer, a request or a process behind takes its process with it. */
const isClean = () =>
  process.getActiveResourcesInfo().join() === 'PipeWrap' && process.memoryUsage.rss() < maxIdleBytes;

let isFirst = true;
let isBusy = false;

const perform = async ({ folder, environment, log }) => {
  // The first task began with the process.
  const begunMs = isFirst ? 0 : performance.now();
  isFirst = false;
  isBusy = true;
  writeTo(log);
  setEnvironment(environment);
  process.chdir(folder);
  const code = await runTask(begunMs);
  process.chdir('/');
  if (code !== 0 || !process.connected || !isClean()) process.exit(code);
  isBusy = false;
  process.send({ code });
};

// A full disk that takes no more of the log.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.on('message', perform);
// The platform has ended, or needs this process no more. A task at work goes on.
const onDisconnect = () => {
  if (!isBusy) process.exit(0);
};
process.on('disconnect', onDisconnect);
if (!process.connected) onDisconnect();
