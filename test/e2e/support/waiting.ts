import { readFileSync } from 'node:fs';
import { Client as ApiClient, type Resource, until as untilMet } from '#clients/client/client.ts';

/**
 * Waits of black-box tests. A failed wait reports its condition, the run with its last events, and the end of the
 * platform's output. It ends before the test's own limit, whose message names only the test.
 */

export * from '#clients/client/client.ts';
export { followLog } from '#clients/client/log.ts';

const waitMs = 60_000;
const reportedEvents = 12;
const reportedLines = 25;

/** Platforms in use by tests of this process: address, and output file. */
const outputs = new Map<string, string>();

export const reportOutputOf = (url: string, file: string): void => void outputs.set(url, file);

const lastLines = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-reportedLines).join('\n  ');
  } catch (error) {
    return String(error);
  }
};

const tailsOf = (files: Iterable<string>): string[] =>
  [...files].map((file) => `end of ${file}:\n  ${lastLines(file)}`);

/** Source of a condition, on one line. */
const sourceOf = (condition: { toString(): string }): string => String(condition).replaceAll(/\s+/g, ' ').slice(0, 300);

/**
 * Polls until the condition is met.
 *
 * @throws {Error} after `ms`, with the condition, the last answer and the end of each platform's output
 */
export const until = <T>(ask: () => Promise<T>, done: (answer: T) => boolean, ms = waitMs): Promise<T> =>
  untilMet(ask, done, ms).catch((error: unknown) => {
    const { message } = error as Error;
    // Errors of `ask` and `done` themselves are passed on.
    if (!message.startsWith('not met after ')) throw error;
    const text = [`${message}`, `waited for: ${sourceOf(done)}`, ...tailsOf(outputs.values())].join('\n');
    throw new Error(text, { cause: error });
  });

type Run = Resource<'runs'>;

const lastEvents = async (client: ApiClient, id: string): Promise<string[]> => {
  try {
    const events = await client.list(`/runs/${id}/run-events?page[size]=100`);
    return events
      .slice(-reportedEvents)
      .map(({ attributes }) => `${attributes['created-at']} ${attributes.action} ${attributes.description ?? ''}`);
  } catch (error) {
    return [String(error)];
  }
};

export class Client extends ApiClient {
  override async waitForRun(id: string, done: (run: Run) => boolean, ms = waitMs): Promise<Run> {
    const began = Date.now();
    let last: Run | undefined;
    const ask = async (): Promise<Run> => {
      last = await this.run(id);
      return last;
    };
    return untilMet(ask, done, ms).catch(async (error: unknown) => {
      if (!(error as Error).message.startsWith('not met after ')) throw error;
      const text = [
        `run ${id} is ${last?.attributes.status} after ${Math.round((Date.now() - began) / 1000)} s`,
        `waited for: ${sourceOf(done)}`,
        `last events:\n  ${(await lastEvents(this, id)).join('\n  ')}`,
        ...tailsOf([outputs.get(this.url)].filter((file) => file !== undefined)),
      ].join('\n');
      throw new Error(text, { cause: error });
    });
  }
}

/** Waits until an ended run that has not saved its last state leaves its workspace locked, shortly after its end. */
export const untilHeld = (client: ApiClient, workspaceId: string): Promise<Resource> =>
  until(
    () => client.get(`/workspaces/${workspaceId}`),
    ({ attributes }) => String(attributes['locked-reason']).includes('terraform state push'),
  );
