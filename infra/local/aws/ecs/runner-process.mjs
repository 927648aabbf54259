// A process that runs tasks one after another (runner-pool.ts), each in its own folder with its own environment and
// log. Arguments: the module that runs a task, and the file with the platform's moved ports.
import { Console } from 'node:console';
import { appendFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { followPlatform } from '../../host/follow-platform.mjs';

/** Above this, exiting is the way to return the memory to the machine. */
const maxIdleBytes = 256 * 2 ** 20;
const maxPauseMs = 128;

const [program, ports] = process.argv.slice(2);
followPlatform(ports);
const { runTask } = await import(pathToFileURL(program).href);

/**
 * The task's console; output of Node itself goes to the log of all runners. Synchronous, because the process may exit
 * after any line.
 */
const writeTo = (log) => {
  const write = (text, _, done) => {
    try {
      appendFileSync(log, text);
    } catch {
      // The disk is full.
    }
    done();
  };
  const stream = new Writable({ write });
  globalThis.console = new Console(stream, stream);
};

const setEnvironment = (environment) => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
};

/** Open timers, requests, processes and other handles, except the channel to the platform. */
const unended = () => {
  const names = process.getActiveResourcesInfo();
  names.splice(names.indexOf('PipeWrap'), 1);
  return names;
};

/**
 * Whether nothing of the task is left running. Files may take a moment to close; everything else ends with this
 * process.
 */
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
  // The first task's time includes the start of the process.
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

process.on('message', (task) => {
  perform(task).catch((error) => {
    console.error(error);
    process.exit(1);
  });
});
// The platform has ended, or no longer needs this process. A running task continues.
const onDisconnect = () => {
  if (!isBusy) process.exit(0);
};
process.on('disconnect', onDisconnect);
if (!process.connected) onDisconnect();
