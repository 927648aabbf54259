import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, TransportError } from '#platform/net/transport/errors.ts';
import { retryFor } from '#platform/net/transport/retry.ts';
import type { Job } from '#run/protocols/runner.ts';
import { claimJob } from './client.ts';
import type { Control } from './control.ts';
import { TokenDeadError } from './errors.ts';
import type { Phase } from './phase.ts';
import type { Settings } from './settings.ts';
import { awaitOffer, isWarm } from './standing-ready.ts';
import { isSeparated, takeUsers, type Users } from './terraform/users.ts';
import type { JobDirectory, JobRoot } from './workspace/job-directory.ts';
import type { Handover } from './workspace/record.ts';

/** Pauses between the requests of a runner that stands by. */
const firstPauseMs = 30;
const maxPauseMs = 2000;
const pauseGrowth = 1.5;
const maxAskMs = 10_000;
/** Exit code of a runner that stood by and got no response: the apply can no longer be assigned to it. */
const unansweredCode = 3;
/** With pauses of at least this length the run is waiting for a user, so the runner does its deferred work. */
const idlePauseMs = 500;

/**
 * A runner's lifecycle: waits for a run if it was started ahead of one, claims it, runs the phase, and after a plan
 * stands by and applies on request.
 */
export class Runner {
  readonly #settings: Settings;
  #root: JobRoot | undefined;
  #users: Users | undefined;
  #files: JobDirectory | undefined;
  #control: Control | undefined;
  /** When the runner got its run, in the clock of performance.now(). */
  #begunMs: number;
  readonly #stopped = new AbortController();

  constructor(settings: Settings, begunMs: number) {
    this.#settings = settings;
    this.#begunMs = begunMs;
  }

  /** Stop request of the host, which allows two minutes. */
  stop(): void {
    this.#stopped.abort();
    this.#control?.stop();
  }

  /** Whether a phase is running that can still be stopped in order. */
  get isWorking(): boolean {
    return this.#control !== undefined && !this.#control.isClosed && !this.#stopped.signal.aborted;
  }

  /** Removes its files. */
  close(): void {
    if (this.#files) this.#files.remove();
    else this.#root?.remove();
    this.#users?.plan.room?.close();
  }

  /** @returns the program's exit code: 0 if the run needs no repair */
  async run(): Promise<number> {
    try {
      const { claim, url } = this.#settings;
      const sent = Promise.withResolvers<void>();
      // Loaded while the control plane handles the claim, so that loading does not delay it.
      const place = sent.promise.then(loadModules).then((modules) => this.#makePlace(modules));
      place.catch(() => {});
      const offered = isWarm(claim) ? await awaitOffer(url, claim, this.#stopped.signal, sent.resolve) : claim;
      if (!offered) return 0;
      if (isWarm(claim)) this.#begunMs = performance.now();
      const job = await claimJob(url, { claim: offered, nonce: randomUUID() }, sent.resolve);
      return await this.#work(await place, job);
    } catch (error) {
      if (error instanceof TokenDeadError || this.#control?.over.aborted) {
        console.error(`no job for this runner: ${messageOf(error)}`);
        return 0;
      }
      console.error(messageOf(error));
      return 1;
    }
  }

  #makePlace(modules: Modules): Place {
    const root = new modules.JobRoot(isSeparated(this.#settings));
    this.#root = root;
    const users = takeUsers(this.#settings, root.path);
    this.#users = users;
    return { ...modules, root, users };
  }

  async #work({ JobDirectory, Phase, conclude, plan, apply, root, users }: Place, job: Job): Promise<number> {
    const owners = { user: users[job.phase].owner, reader: users.reader.owner };
    const files = new JobDirectory(job.workspace.name, owners, root);
    this.#files = files;
    const begin = (of: Job) => this.#begin(new Phase(of, this.#settings, files, users));
    const phase = begin(job);
    phase.timings.ms.start = Math.round(performance.now() - this.#begunMs);
    if (job.phase === 'apply') return applied({ conclude, apply }, phase);
    const work = await otherWork(phase);
    if (work) return exitCode((await conclude(phase, work)).defect);
    const planned = await conclude(phase, () => plan(phase));
    const prepared = planned.result;
    const next = prepared && planned.next === 'hold' ? (planned.job ?? (await this.#standBy(phase))) : undefined;
    let code = next === 'unanswered' ? unansweredCode : exitCode(planned.defect);
    if (prepared && typeof next === 'object') {
      // Before any file of the apply is written.
      const previousFiles = files.renew(users.apply.owner);
      const handedOver = {
        prepared,
        left: previousFiles,
        of: users.plan.owner,
        sameIdentity: identityOf(next) === identityOf(job),
      };
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

  /** Polls until there is an apply, there will be none, or the time is up. */
  async #standBy({ client, job, afterwards }: Phase): Promise<Job | 'unanswered' | undefined> {
    const { signal } = this.#stopped;
    const end = Date.now() + job.holdSeconds * 1000;
    let pause = firstPauseMs;
    while (!signal.aborted) {
      // A stop does not abort this request: an apply assigned to this runner must be reported.
      const answer = await client.next(retryFor(Math.min(maxAskMs, Math.max(0, end - Date.now())))).catch((error) => {
        if (error instanceof TransportError) return { action: 'wait', afterMs: 0 } as const;
        throw error;
      });
      if (answer.action === 'apply') return answer.job;
      const remainingMs = end - Date.now();
      if (answer.action === 'exit') return undefined;
      if (remainingMs <= 0) break;
      await sleep(Math.min(remainingMs, Math.max(pause, answer.afterMs)), undefined, { signal }).catch(() => {});
      pause = Math.min(maxPauseMs, pause * pauseGrowth);
      if (pause > idlePauseMs && !signal.aborted) void afterwards.run();
    }
    return 'unanswered';
  }
}

/** Work of a phase that does not plan; undefined for a plan. */
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

/** Roles, audiences and the like of the run's credentials, without their tokens. */
const identityOf = ({ identity }: Job): string =>
  JSON.stringify([identity?.credentials.map(({ token: _, ...of }) => of), identity?.backed]);

const exitCode = (defect: unknown): number => (defect === undefined ? 0 : 1);

/** Modules that a runner needs once it has a job. */
const loadModules = async () => {
  const [{ JobDirectory, JobRoot }, { Phase }, { conclude }, { plan }, { apply }] = await Promise.all([
    import('./workspace/job-directory.ts'),
    import('./phase.ts'),
    import('./conclude.ts'),
    import('./plan.ts'),
    import('./apply.ts'),
  ]);
  return { JobDirectory, JobRoot, Phase, conclude, plan, apply };
};

type Modules = Awaited<ReturnType<typeof loadModules>>;

interface Place extends Modules {
  root: JobRoot;
  users: Users;
}
