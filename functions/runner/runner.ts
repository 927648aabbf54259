import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../protocols/runner.ts';
import { messageOf, TransportError } from '../transport/errors.ts';
import { retryFor } from '../transport/retry.ts';
import { claimJob } from './client.ts';
import type { Control } from './control.ts';
import { TokenDeadError } from './errors.ts';
import type { Phase } from './phase.ts';
import type { Settings } from './settings.ts';
import { awaitOffer, isWarm } from './standing-ready.ts';
import { takeUsers, type Users } from './terraform/users.ts';
import type { JobDirectory } from './workspace/job-directory.ts';
import type { Handover } from './workspace/record.ts';

/** Pauses between the questions of a runner that stands by. */
const firstPauseMs = 30;
const maxPauseMs = 2000;
const pauseGrowth = 1.5;
const maxAskMs = 10_000;
/** Exit code of a runner that stood by and got no answer: nobody may give it the apply any more. */
const unansweredCode = 3;
/** Who asks so seldom waits for a person, and has time for something else. */
const idlePauseMs = 500;

/**
 * One runner's life: a claim, when it stood ready the wait for one before it, its phase, and, when it stands by after a plan and is asked to, the apply.
 */
export class Runner {
  readonly #settings: Settings;
  #files: JobDirectory | undefined;
  #control: Control | undefined;
  /** When a run was there for it, in milliseconds since the process started. */
  #begunMs = 0;
  readonly #stopped = new AbortController();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The host wants the runner gone; it has two minutes. */
  stop(): void {
    this.#stopped.abort();
    this.#control?.stop();
  }

  /** Removes what is on disk. */
  close(): void {
    this.#files?.remove();
  }

  /**
   * @returns the program's exit code: 0 when nothing is left to be done for the run, so that nobody has to look at its end
   */
  async run(): Promise<number> {
    try {
      const { claim, url } = this.#settings;
      const sent = Promise.withResolvers<void>();
      // Loaded while the control plane thinks; it would not hear of the claim before, had that begun at once.
      const modules = sent.promise.then(load);
      const users = sent.promise.then(() => takeUsers(this.#settings.terraformUsers));
      for (const one of [modules, users]) one.catch(() => {});
      const offered = isWarm(claim) ? await awaitOffer(url, claim, this.#stopped.signal, sent.resolve) : claim;
      if (!offered) return 0;
      if (isWarm(claim)) this.#begunMs = process.uptime() * 1000;
      const job = await claimJob(url, { claim: offered, nonce: randomUUID() }, sent.resolve);
      return await this.#work(await modules, job, await users);
    } catch (error) {
      if (error instanceof TokenDeadError || this.#control?.over.aborted) {
        console.error(`nothing left to do: ${messageOf(error)}`);
        return 0;
      }
      console.error(messageOf(error));
      return 1;
    }
  }

  async #work({ JobDirectory, Phase, conclude, plan, apply }: Modules, job: Job, users: Users): Promise<number> {
    const { reader } = users;
    const files = new JobDirectory(job.workspace.name, { user: users[job.phase].owner, reader: reader.owner });
    this.#files = files;
    const begin = (of: Job) => this.#begin(new Phase(of, this.#settings, files, users));
    const phase = begin(job);
    phase.timings.ms.start = Math.round(process.uptime() * 1000 - this.#begunMs);
    if (job.phase === 'apply') return applied({ conclude, apply }, phase);
    const work = await otherWork(phase);
    if (work) return exitCode((await conclude(phase, work)).defect);
    const planned = await conclude(phase, () => plan(phase));
    const prepared = planned.result;
    const next = prepared && planned.next === 'hold' ? (planned.job ?? (await this.#standBy(phase))) : undefined;
    let code = next === 'unanswered' ? unansweredCode : exitCode(planned.defect);
    if (prepared && typeof next === 'object') {
      // Before anything of the apply's is written.
      const left = files.renew(users.apply.owner);
      const handedOver = { prepared, left, of: users.plan.owner, sameIdentity: identityOf(next) === identityOf(job) };
      code = await applied({ conclude, apply }, begin(next), handedOver);
    }
    await phase.afterwards.run();
    return code;
  }

  #begin(phase: Phase): Phase {
    this.#control = phase.control;
    if (this.#stopped.signal.aborted) phase.control.stop();
    return phase;
  }

  /** Asks until there is something to apply, nothing ever will be, or the time is up. */
  async #standBy({ client, job, afterwards }: Phase): Promise<Job | 'unanswered' | undefined> {
    const { signal } = this.#stopped;
    const end = Date.now() + job.holdSeconds * 1000;
    let pause = firstPauseMs;
    while (!signal.aborted) {
      // Not cut off by a stop: an apply that was given to this runner must be answered for.
      const answer = await client.next(retryFor(Math.min(maxAskMs, Math.max(0, end - Date.now())))).catch((error) => {
        if (error instanceof TransportError) return { action: 'wait', afterMs: 0 } as const;
        throw error;
      });
      if (answer.action === 'apply') return answer.job;
      const left = end - Date.now();
      if (answer.action === 'exit') return undefined;
      if (left <= 0) break;
      await sleep(Math.min(left, Math.max(pause, answer.afterMs)), undefined, { signal }).catch(() => {});
      pause = Math.min(maxPauseMs, pause * pauseGrowth);
      if (pause > idlePauseMs && !signal.aborted) void afterwards.run();
    }
    return 'unanswered';
  }
}

/** What a phase does that plans nothing; undefined for a plan. */
const otherWork = async (phase: Phase): Promise<(() => Promise<void>) | undefined> => {
  const { tests, queries } = phase.job.operation;
  if (tests) {
    const { test } = await import('./test.ts');
    return () => test(phase);
  }
  if (!queries) return undefined;
  const { query } = await import('./query.ts');
  return () => query(phase);
};

const applied = async (
  { conclude, apply }: Pick<Modules, 'conclude' | 'apply'>,
  phase: Phase,
  handedOver?: Handover,
): Promise<number> => {
  const { defect } = await conclude(phase, () => apply(phase, handedOver));
  await phase.afterwards.run();
  return exitCode(defect);
};

/** Roles, audiences and the like of what a phase shows itself as, without the tokens of it. */
const identityOf = ({ identity }: Job): string =>
  JSON.stringify([identity?.credentials.map(({ token: _, ...of }) => of), identity?.backed]);

const exitCode = (defect: unknown): number => (defect === undefined ? 0 : 1);

const load = async () => {
  const [{ JobDirectory }, { Phase }, { conclude }, { plan }, { apply }] = await Promise.all([
    import('./workspace/job-directory.ts'),
    import('./phase.ts'),
    import('./conclude.ts'),
    import('./plan.ts'),
    import('./apply.ts'),
  ]);
  return { JobDirectory, Phase, conclude, plan, apply };
};

type Modules = Awaited<ReturnType<typeof load>>;
