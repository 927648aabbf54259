import * as v from 'valibot';
import { isOwner } from '../access.ts';
import { notModified, ok } from '../host/answers.ts';
import { readBody } from '../host/body.ts';
import { forbidden } from '../host/errors.ts';
import { audited, type Call, type Route, route } from '../host/route.ts';
import { organizationsOf } from '../people/users.ts';
import { listTemplates } from '../templates/records.ts';
import { isPaused, type Pooled, setPaused, wakePool } from './pool.ts';

/**
 * Pauses all pools. Coder's API has one setting for the whole deployment: here it applies to the organizations that
 * the caller owns.
 */

const owned = async ({ principal }: Call): Promise<string[]> => {
  const names: string[] = [];
  for (const { name } of await organizationsOf(principal)) if (await isOwner(principal, name)) names.push(name);
  if (names.length === 0) throw forbidden();
  return names;
};

const pausedIn = async (names: string[]): Promise<boolean> =>
  (await Promise.all(names.map(isPaused))).every((paused) => paused);

const read = async (call: Call) => ok({ reconciliation_paused: await pausedIn(await owned(call)) });

const change = async (call: Call) => {
  const names = await owned(call);
  const { reconciliation_paused: paused } = readBody(call.request, v.object({ reconciliation_paused: v.boolean() }));
  const changed: string[] = [];
  for (const name of names) if ((await isPaused(name)) !== paused) changed.push(name);
  if (changed.length === 0) return notModified();
  for (const name of changed) {
    await audited(call, name, { type: 'prebuilds_settings', action: 'update', id: name }, async () => {
      await setPaused(name, paused);
      const pooled = (await listTemplates(name)).filter((template) => (template as Pooled).wokenAt);
      if (!paused) await Promise.all(pooled.map(({ id }) => wakePool(id)));
      return ok({});
    });
  }
  return ok({ reconciliation_paused: paused });
};

export const prebuildRoutes: Route[] = [
  route('GET', '/prebuilds/settings', read),
  route('PUT', '/prebuilds/settings', change),
];
