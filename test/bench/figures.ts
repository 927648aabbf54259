import { readdir, readFile } from 'node:fs/promises';
import type { RunUsage, Step } from '#infra/local/aws/lambda/usage.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import type { Local } from '#test/e2e/support/platform.ts';

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The target, if there is one. */
  atMost?: number;
  atLeast?: number;
}

export const isMet = ({ value, atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }: Figure) =>
  value <= atMost && value >= atLeast;

export interface Section {
  about: string;
  needsPlatform: boolean;
  /** Whether the section needs a running platform. */
  measure(platform?: Local): AsyncGenerator<Figure>;
}

export const quantile = (values: number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] as number;
};

export const median = (values: number[]): number => quantile(values, 0.5);

export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

/** Usage of a run as the local endpoint counted it, in AWS's billing units. */
export const usageOf = async (platform: Local, runId: string) =>
  (await (await operatorFetch(platform, `/_usage?run=${runId}&steps`)).json()) as Omit<RunUsage, 'totals'> & {
    totals: Record<string, number>;
    steps: Step[];
  };

interface Times {
  pid: number;
  parent: number;
  ownMs: number;
  /** Of its descendants that have ended. */
  endedMs: number;
}

/** Only on Linux, where a second has 100 ticks (proc(5)). */
const timesOf = async (pid: number): Promise<Times | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (!stat) return undefined;
  // The name may contain blanks.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((n) => fields[n]);
  return { pid, parent, ownMs: (user + system) * 10, endedMs: (endedUser + endedSystem) * 10 };
};

/** Resident memory of a process in MB, as `ps` shows it, with the pages of Node's own file (proc(5)). */
export const memoryMb = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
};

/** Processor time of a process in ms. */
export const processorMs = async (pid: number): Promise<number | undefined> => (await timesOf(pid))?.ownMs;

/** Processor time in ms of a process's descendants that have ended. */
export const endedMs = async (pid: number): Promise<number> => (await timesOf(pid))?.endedMs ?? 0;

/** Processor time in ms of a platform: its own, that of its runner processes, and that of ended commands. */
export interface Parts {
  platform: number;
  runners: number;
  commands: number;
}

export const partsMs = async (root: number): Promise<Parts> => {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter((pid) => pid > 0);
  const all = (await Promise.all(pids.map(timesOf))).filter((times) => times !== undefined);
  const below = (pid: number): Times[] =>
    all.filter(({ parent }) => parent === pid).flatMap((times) => [times, ...below(times.pid)]);
  const own = all.filter(({ pid }) => pid === root);
  const others = below(root);
  const sum = (of: Times[], part: 'ownMs' | 'endedMs') => of.reduce((ms, times) => ms + times[part], 0);
  return {
    platform: sum(own, 'ownMs'),
    runners: sum(others, 'ownMs'),
    commands: sum([...own, ...others], 'endedMs'),
  };
};
