import * as v from 'valibot';
import { type Rights, rightsIn } from '../access.ts';
import { canceled, cancelRuns, checkCancelable, checkExpected } from '../cancel.ts';
import { ok } from '../host/answers.ts';
import { readBody, text, versionName } from '../host/body.ts';
import { CoderError, forbidden, notFound } from '../host/errors.ts';
import { type AuditedAction, audited, type Call, type Route, refused, route } from '../host/route.ts';
import { uuidIn } from '../host/uuid.ts';
import { jobStatus } from '../jobs.ts';
import { answerLog, logParameters } from '../logs/routes.ts';
import { logOfVersion } from '../logs/version-log.ts';
import { runsOf, settleVersion } from './import.ts';
import { getAnyTemplate } from './records.ts';
import { isVersionUsed } from './uses.ts';
import {
  parameterDocument,
  presetDocument,
  resourceDocument,
  variableDocument,
  versionDocument,
} from './version-document.ts';
import { getFound, getVersion, setArchived, updateVersion, type Version } from './versions.ts';

export interface SeenVersion {
  version: Version;
  rights: Rights;
}

/** For callers with permission to see its template or to create one. */
const seenVersion = async (call: Call, version: Version | undefined): Promise<SeenVersion> => {
  if (!version) throw notFound();
  const rights = await rightsIn(call.principal, version);
  if (!rights.read || (!version.templateId && !rights.manage)) throw notFound();
  return { version, rights };
};

export const versionById = async (call: Call): Promise<SeenVersion> =>
  seenVersion(call, await getVersion(uuidIn(call.request.params.version ?? '')));

const auditedActionOf = (action: string, { id, name }: Version): AuditedAction => ({
  type: 'template_version',
  action,
  id,
  name,
});

/** @throws {CoderError} 403 */
const managed = async (call: Call, action: string): Promise<Version> => {
  const { version, rights } = await versionById(call);
  if (!rights.manage) throw await refused(call, version.organization, auditedActionOf(action, version), forbidden());
  return version;
};

const read = async (call: Call) => {
  const { version, runs } = await settleVersion((await versionById(call)).version);
  return ok(versionDocument(version, runs));
};

const rename = async (call: Call) => {
  const version = await managed(call, 'update');
  const change = readBody(
    call.request,
    v.object({ name: v.optional(versionName), message: v.optional(text(1 << 20)) }),
  );
  return audited(call, version.organization, auditedActionOf('update', version), async () => {
    const updated = await updateVersion(version, change);
    if (updated === 'name taken') {
      throw new CoderError(409, `A template version with name "${change.name}" already exists for this template.`);
    }
    return ok(versionDocument(updated ?? version, await runsOf(version)));
  });
};

const cancel = async (call: Call) => {
  const { version, runs } = await settleVersion(await managed(call, 'cancel'));
  const status = jobStatus(version, runs);
  checkCancelable(status);
  checkExpected(call, status);
  return audited(call, version.organization, auditedActionOf('cancel', version), async () => {
    await cancelRuns(runs, call.principal.userId);
    return ok(canceled);
  });
};

/** @throws {CoderError} while the import is in progress, and after a failed one */
const imported = async (call: Call, status: number, message: string): Promise<Version> => {
  const { version } = await settleVersion((await versionById(call)).version);
  if (!version.completedAt) throw new CoderError(status, message);
  return version;
};

const unfinished = 'Template version job has not finished';

const resources = async (call: Call) => {
  const version = await imported(call, 400, "Job hasn't completed!");
  const { start, stop } = await getFound(version.id);
  const { jobId } = version;
  const createdAt = version.completedAt ?? version.createdAt;
  return ok([
    ...start.map((resource, n) => resourceDocument(resource, { jobId, createdAt, transition: 'start', n })),
    ...stop.map((resource, n) => resourceDocument(resource, { jobId, createdAt, transition: 'stop', n })),
  ]);
};

const parameters = async (call: Call) => {
  const version = await imported(call, 425, unfinished);
  return ok((await getFound(version.id)).parameters.map(parameterDocument));
};

const presets = async (call: Call) => {
  const { version } = await versionById(call);
  const presets = (await getFound(version.id)).presets.map(presetDocument);
  return ok(presets.length ? presets : null);
};

const archive = (archived: boolean) => async (call: Call) => {
  const action = archived ? 'archive' : 'unarchive';
  const version = await managed(call, action);
  if (version.archived === archived)
    throw new CoderError(400, `Template version is already ${archived ? '' : 'not '}archived`);
  const template = version.templateId ? await getAnyTemplate(version.templateId) : undefined;
  if (archived && template?.activeVersionId === version.id) {
    throw new CoderError(400, 'Cannot archive the active template version');
  }
  if (archived && (await isVersionUsed(version))) {
    throw new CoderError(400, 'Cannot archive a template version that is in use');
  }
  return audited(call, version.organization, auditedActionOf(action, version), async () => {
    const changed = await setArchived(version.id, archived);
    return ok(versionDocument(changed ?? version, await runsOf(version)));
  });
};

export const versionRoutes: Route[] = [
  route('GET', '/templateversions/{version}', read),
  route('PATCH', '/templateversions/{version}', rename),
  route('PATCH', '/templateversions/{version}/cancel', cancel, { query: ['expect_status'] }),
  route(
    'GET',
    '/templateversions/{version}/logs',
    async (call) => answerLog(call, { kind: 'version', jobId: (await versionById(call)).version.id }, logOfVersion),
    { query: logParameters },
  ),
  route('GET', '/templateversions/{version}/resources', resources),
  route('GET', '/templateversions/{version}/rich-parameters', parameters),
  route('GET', '/templateversions/{version}/presets', presets),
  route('GET', '/templateversions/{version}/variables', async (call) =>
    ok((await imported(call, 403, unfinished)).variables.map(variableDocument)),
  ),
  route('GET', '/templateversions/{version}/external-auth', async (call) => {
    await versionById(call);
    return ok([]);
  }),
  route('POST', '/templateversions/{version}/archive', archive(true)),
  route('POST', '/templateversions/{version}/unarchive', archive(false)),
];
