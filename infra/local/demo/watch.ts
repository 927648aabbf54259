import { endOf } from '#clients/cli/outcome.ts';
import { watchRun as watch } from '#clients/cli/watch.ts';
import { WatchText } from '#clients/cli/watch-text.ts';
import type { Client, Resource } from '#clients/client/client.ts';
import { bold } from './print.ts';

/** Shows a run like `stepform runs watch`, and decides it. */
export const watchRun = async (client: Client, created: Resource): Promise<Resource> => {
  const { emit } = new WatchText(client.url, console.log);
  const seen = await watch(client, created.id, {
    emit,
    decide: async ({ run: { id }, override }) => {
      const comment = override ? 'Three replicas are wanted here' : 'Looks good';
      console.log(`${bold(override ? '→ overriding' : '→ confirming')}: ${comment}`);
      if (override) await client.call('POST', override, { comment });
      else await client.act(id, 'apply', comment);
      return 'stay';
    },
  });
  emit(endOf(seen));
  return seen.run;
};
