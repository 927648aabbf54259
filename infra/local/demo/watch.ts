import { endOf } from '#clients/cli/outcome.ts';
import { dim, green, plain } from '#clients/cli/paint.ts';
import { ask } from '#clients/cli/terminal.ts';
import { type Watching, watchRun as watch } from '#clients/cli/watch.ts';
import { WatchText } from '#clients/cli/watch-text.ts';
import { ApiError, type Client, type Resource } from '#clients/client/client.ts';
import { bold } from './print.ts';

/** One line for each resource; `stepform runs watch` and the page show all of Terraform's output. */
const highlight = (line: string): string | undefined => {
  const [, planned] = /^\s*# (.+) will be created$/.exec(line) ?? [];
  if (planned) return `  ${green('+')} ${planned}`;
  const [, done] = /^(.+: Creation complete after \d+\w+)/.exec(line) ?? [];
  return done && `  ${dim(done)}`;
};

type Decide = Watching['decide'];

/** The viewer decides, as with `stepform runs start --watch`. */
const askViewer =
  (client: Client): Decide =>
  async ({ run: { id }, override }) => {
    const [question, word] = override
      ? ['Policies failed. Override them?', 'override']
      : ['Apply these changes?', 'yes'];
    const hint = `Type "${word}", or "discard" to discard the run\n> `;
    let answer = await ask(`\n${bold(question)} ${hint}`);
    while (answer !== word && answer !== 'discard') answer = await ask(hint);
    try {
      if (answer === 'discard') await client.act(id, 'discard');
      else if (override) await client.call('POST', override, { comment: 'Overridden in the demo' });
      else await client.act(id, 'apply');
    } catch (error) {
      // The viewer has decided on the page in the meantime.
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    }
    return 'stay';
  };

const decideAlone =
  (client: Client): Decide =>
  async ({ run: { id }, override }) => {
    const comment = override ? 'Three replicas are wanted here' : 'Looks good';
    console.log(`${bold(override ? '→ overriding' : '→ confirming')}: ${comment}`);
    if (override) await client.call('POST', override, { comment });
    else await client.act(id, 'apply', comment);
    return 'stay';
  };

/**
 * Shows a run like `stepform runs watch`, until it ends.
 * @param attended the viewer decides it, otherwise the demo
 * @throws {CommandError} for Ctrl-C at a question
 */
export const watchRun = async (client: Client, created: Resource, attended: boolean): Promise<Resource> => {
  const { emit } = new WatchText(client.url, console.log);
  const seen = await watch(client, created.id, {
    emit: (event) => {
      const line = event.event === 'log' ? highlight(plain(event.line)) : undefined;
      if (event.event !== 'log') emit(event);
      else if (line) console.log(line);
    },
    decide: attended ? askViewer(client) : decideAlone(client),
  });
  emit(endOf(seen));
  return seen.run;
};
