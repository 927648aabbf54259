import * as v from 'valibot';
import { foldCase } from '#platform/store/fold-case.ts';
import { nameOfEnvironment } from '../audit/build-record.ts';
import { setBuild } from '../builds/records.ts';
import { noContent, notModified, ok } from '../host/answers.ts';
import { nameField, readBody } from '../host/body.ts';
import { CoderError, forbidden, invalid, notFound } from '../host/errors.ts';
import { type AuditedAction, audited, type Call, type Route, refused, route } from '../host/route.ts';
import { reschedule } from './due.ts';
import { byId, describe, latestOf, templateOf } from './finder.ts';
import { checkSchedule, checkTtl } from './input.ts';
import {
  claimName,
  type Environment,
  type EnvironmentChange,
  releaseName,
  setFavorite,
  updateEnvironment,
} from './records.ts';
import { bumpedDeadline } from './schedule.ts';

/** Names, schedules and other settings of environments. */

const auditedActionOf = (action: string, environment: Environment): AuditedAction => ({
  type: 'workspace',
  action,
  id: environment.id,
  name: nameOfEnvironment(environment),
});

/** @throws {CoderError} 403, or 404 for a deleted one */
const changeable = async (call: Call, action: string): Promise<Environment> => {
  const { environment, mayChange } = await byId(call);
  if (!mayChange)
    throw await refused(call, environment.organization, auditedActionOf(action, environment), forbidden());
  if (environment.deletedAt) throw notFound();
  return environment;
};

/** Rejected for prebuilds, which have no owner. @throws {CoderError} 409 */
const checkOwned = ({ prebuild }: Environment, noun: string): void => {
  if (prebuild) throw new CoderError(409, `${noun} not supported for prebuilt workspaces`);
};

/** @throws {CoderError} 404 when it has been deleted meanwhile */
const update = async ({ id }: Environment, change: EnvironmentChange): Promise<Environment> => {
  const updated = await updateEnvironment(id, change);
  if (!updated) throw notFound();
  return updated;
};

const apply = (call: Call, environment: Environment, action: string, change: EnvironmentChange) =>
  audited(call, environment.organization, auditedActionOf(action, environment), async () => {
    const updated = await update(environment, change);
    if ('autostartSchedule' in change) await plan(updated);
    return noContent();
  });

/** Called when the next start or stop may have changed. */
const plan = async (environment: Environment): Promise<void> => {
  const [template, { build }] = await Promise.all([templateOf(environment), latestOf(environment)]);
  await reschedule(environment, template, build);
};

const inUse = (name: string) =>
  new CoderError(409, `Workspace "${name}" already exists.`, undefined, [
    { field: 'name', detail: 'This value is already in use and should be unique.' },
  ]);

const rename = async (call: Call) => {
  const environment = await changeable(call, 'rename');
  checkOwned(environment, 'Renaming is');
  const { name = environment.name } = readBody(
    call.request,
    v.object({ name: v.optional(nameField('workspace_name')) }),
  );
  if (name === environment.name) return noContent();
  const { ownerId, id } = environment;
  const isSame = foldCase(name) === foldCase(environment.name);
  return audited(call, environment.organization, auditedActionOf('rename', environment), async () => {
    if (!isSame && !(await claimName(ownerId, name, id))) throw inUse(name);
    const updated = await updateEnvironment(id, { name });
    if (!isSame) await releaseName(ownerId, updated ? environment.name : name, id);
    if (!updated) throw notFound();
    return noContent();
  });
};

const autostart = async (call: Call) => {
  const environment = await changeable(call, 'update_autostart');
  checkOwned(environment, 'Autostart is');
  const { schedule } = readBody(call.request, v.object({ schedule: v.nullish(v.string()) }));
  if (schedule) checkSchedule(schedule, await templateOf(environment), 'Invalid autostart schedule.', 'schedule');
  return apply(call, environment, 'update_autostart', { autostartSchedule: schedule || undefined });
};

const ttl = async (call: Call) => {
  const environment = await changeable(call, 'update_ttl');
  checkOwned(environment, 'TTL updates are');
  const { ttl_ms: newTtlMs } = readBody(call.request, v.object({ ttl_ms: v.nullish(v.number()) }));
  if (newTtlMs) checkTtl(newTtlMs, await templateOf(environment), 'Error updating workspace time until shutdown.');
  const { build } = await latestOf(environment);
  return audited(call, environment.organization, auditedActionOf('update_ttl', environment), async () => {
    const ttlMs = newTtlMs ? newTtlMs - (newTtlMs % 60_000) : undefined;
    await update(environment, { ttlMs });
    // A running environment keeps its deadline, unless the change removes deadlines.
    if (!newTtlMs && build.deadline) {
      await setBuild(build.id, { deadline: build.maxDeadline });
      await plan(environment);
    }
    return noContent();
  });
};

/** One minute less than the documented minimum, because requests take a while. */
const leastExtensionMs = 29 * 60_000;

const lastDeadline = Date.UTC(9999, 11, 31);

const extend = async (call: Call) => {
  const environment = await changeable(call, 'extend');
  checkOwned(environment, 'Deadline extension is');
  const { deadline: text } = readBody(call.request, v.object({ deadline: v.string() }));
  const deadline = Date.parse(text);
  if (Number.isNaN(deadline)) throw invalid('deadline', 'Validation failed for tag "required"');
  const { build } = await latestOf(environment);
  if (build.transition !== 'start') {
    throw new CoderError(409, `Workspace must be started, current status: ${build.transition}`);
  }
  if (!build.completedAt) throw new CoderError(409, 'Workspace is still building!');
  if (!build.deadline) throw new CoderError(409, 'Workspace shutdown is manual.');
  if (deadline < Date.now() + leastExtensionMs) {
    throw new CoderError(400, 'Cannot extend workspace: new deadline must be at least 30 minutes in the future');
  }
  // Years of more than four digits would be sorted before all others.
  if (build.maxDeadline && deadline > Date.parse(build.maxDeadline)) {
    throw new CoderError(400, 'Cannot extend workspace beyond max deadline.', `It is ${build.maxDeadline}.`);
  }
  if (deadline > lastDeadline) throw invalid('deadline', 'must be before the year 10000');
  const newDeadline = new Date(deadline).toISOString();
  if (newDeadline === build.deadline) return notModified();
  return audited(call, environment.organization, auditedActionOf('extend', environment), async () => {
    await setBuild(build.id, { deadline: newDeadline });
    await plan(environment);
    return ok({ message: `Deadline updated to ${newDeadline}` });
  });
};

const automaticUpdates = async (call: Call) => {
  const environment = await changeable(call, 'update_automatic_updates');
  const { automatic_updates: automaticUpdates } = readBody(
    call.request,
    v.object({ automatic_updates: v.picklist(['always', 'never'], 'Validation failed for tag "oneof"') }),
  );
  return apply(call, environment, 'update_automatic_updates', { automaticUpdates });
};

const dormant = async (call: Call) => {
  const environment = await changeable(call, 'update_dormancy');
  checkOwned(environment, 'Dormancy updates are');
  const { dormant: isDormant } = readBody(call.request, v.object({ dormant: v.boolean() }));
  if (isDormant === (environment.dormantAt !== undefined)) return notModified();
  const at = new Date().toISOString();
  return audited(call, environment.organization, auditedActionOf('update_dormancy', environment), async () => {
    const change = isDormant ? { dormantAt: at } : { dormantAt: undefined, lastUsedAt: at };
    const updated = await update(environment, change);
    await plan(updated);
    return ok(await describe(call, updated));
  });
};

const favorite = (isFavorite: boolean) => async (call: Call) => {
  const { environment } = await byId(call);
  if (environment.ownerId !== call.principal.userId) {
    throw forbidden('You can only favorite workspaces that you own.');
  }
  if (environment.deletedAt) throw notFound();
  const action = isFavorite ? 'favorite' : 'unfavorite';
  return audited(call, environment.organization, auditedActionOf(action, environment), async () => {
    await setFavorite(environment.ownerId, environment.id, isFavorite);
    return noContent();
  });
};

/** Records use, which extends the deadline and prevents dormancy. */
const use = async (call: Call) => {
  const environment = await changeable(call, 'use');
  checkOwned(environment, 'Usage is');
  const [{ build }, template] = await Promise.all([latestOf(environment), templateOf(environment)]);
  const deadline = bumpedDeadline(environment, template, build, Date.now());
  return audited(call, environment.organization, auditedActionOf('use', environment), async () => {
    const updated = await update(environment, { lastUsedAt: new Date().toISOString() });
    if (deadline) await setBuild(build.id, { deadline });
    await plan(updated);
    return noContent();
  });
};

const base = '/workspaces/{workspace}';

export const environmentSettingRoutes: Route[] = [
  route('PATCH', base, rename),
  route('PUT', `${base}/autostart`, autostart),
  route('PUT', `${base}/ttl`, ttl),
  route('PUT', `${base}/extend`, extend),
  route('PUT', `${base}/dormant`, dormant),
  route('PUT', `${base}/autoupdates`, automaticUpdates),
  route('PUT', `${base}/favorite`, favorite(true)),
  route('DELETE', `${base}/favorite`, favorite(false)),
  route('POST', `${base}/usage`, use),
];
