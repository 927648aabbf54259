// A process that performs tasks one after another (runner-pool.ts), each in its own folder with its own environment and log.
// Arguments: the module that performs a task, and the file that tells where the platform's ports have moved.
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { followPlatform } from '../../host/follow-platform.mjs';

/** More is given back to the machine by ending the process. */
const maxIdleBytes = 256 * 2 ** 20;
const maxPauseMs = 128;

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

/** Timers, requests, processes and the like that still go on, beside the channel to the platform. */
const unended = () => {
  const names = process.getActiveResourcesInfo();
  names.splice(names.indexOf('PipeWrap'), 1);
  return names;
};

/** Whether nothing of the task goes on. Files may still be being closed for a moment; all else ends with this process. */
const hasSettled = async () => {
  for (let pause = 1; pause <= maxPauseMs; pause *= 2) {
    const names = unended();
    if (names.length === 0) return true;
    if (names.some((name) => name !== 'FSReqCallback')) return false;
    await sleep(pause);
  }
  return false;
};

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
  const isReusable = code === 0 && (await hasSettled()) && process.memoryUsage.rss() < maxIdleBytes;
  if (!isReusable || !process.connected) process.exit(code);
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
