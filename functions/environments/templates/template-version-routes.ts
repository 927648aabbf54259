import * as v from 'valibot';
import { ok } from '../host/answers.ts';
import { flagIn, idField, pageIn, readBody } from '../host/body.ts';
import { CoderError, notFound } from '../host/errors.ts';
import { audited, type Call, type Route, route } from '../host/route.ts';
import { presentUuid } from '../host/uuid.ts';
import { hasPool, invalidatePreset, wakeIfPooled, wakePool } from '../prebuilds/pool.ts';
import { runsOf, settleVersion } from './import.ts';
import { postVersion } from './new-version.ts';
import { type Template, updateTemplate } from './records.ts';
import { managedTemplate, templateById, templateByName } from './template-routes.ts';
import { usedVersions } from './uses.ts';
import { versionDocument } from './version-document.ts';
import { findVersion, getFound, getVersion, listVersions, setArchived, type Version } from './versions.ts';

const document = async (record: Version) => {
  const { version } = await settleVersion(record);
  return versionDocument(version, await runsOf(version));
};

const list = async (call: Call) => {
  const { template } = await templateById(call);
  const all = await listVersions(template.id);
  const { limit, offset } = pageIn(call.request);
  const shown = all.filter(({ archived }) => !archived || flagIn(call.request, 'include_archived'));
  return ok(await Promise.all(shown.slice(offset, offset + limit).map(document)));
};

const named = async (template: Template, name: string): Promise<Version> => {
  const version = await findVersion(template.id, name);
  if (!version) throw new CoderError(404, `No template version found by name "${name}".`);
  return version;
};

const byName = async (call: Call) => {
  const { template } = await templateById(call);
  return ok(await document(await named(template, call.request.params.version ?? '')));
};

const byNames = async (call: Call) => {
  const { template } = await templateByName(call);
  return ok(await document(await named(template, call.request.params.version ?? '')));
};

const previous = async (call: Call) => {
  const { template } = await templateByName(call);
  const all = await listVersions(template.id);
  const before = all[all.findIndex(({ name }) => name === call.request.params.version) - 1];
  if (!before) throw notFound();
  return ok(await document(before));
};

const auditAction = (action: string, { id, name }: Template) => ({ type: 'template', action, id, name });

const promote = async (call: Call) => {
  const template = await managedTemplate(call, 'promote');
  const id = presentUuid(readBody(call.request, v.object({ id: idField })).id);
  const requested = id === undefined ? undefined : await getVersion(id);
  if (requested?.organization !== template.organization) throw new CoderError(404, 'Template version not found.');
  const { version } = await settleVersion(requested);
  if (version.templateId !== template.id) {
    throw new CoderError(400, "The provided template version doesn't belong to the specified template.");
  }
  if (!version.completedAt || version.error || version.canceledAt) {
    throw new CoderError(403, 'Only versions that have been built successfully can be promoted.', version.error);
  }
  if (version.archived) throw new CoderError(400, 'The provided template version is archived.');
  return audited(call, template.organization, auditAction('promote', template), async () => {
    const updated = await updateTemplate(template, { activeVersionId: version.id });
    if (typeof updated === 'object') await wakeIfPooled(updated);
    return ok({ message: 'Updated the active template version!' });
  });
};

/** Archives failed versions that no environment uses; with `all`, working ones too. */
const archiveUnused = async (call: Call) => {
  const template = await managedTemplate(call, 'archive_versions');
  const { all } = readBody(call.request, v.object({ all: v.nullish(v.boolean()) }));
  const used = await usedVersions(template.id);
  const versions = await Promise.all((await listVersions(template.id)).map(settleVersion));
  const unused = versions
    .map(({ version }) => version)
    .filter(({ id, archived, completedAt, error }) => {
      const isFree = !archived && completedAt !== undefined && id !== template.activeVersionId && !used.has(id);
      return isFree && (all || error !== undefined);
    });
  return audited(call, template.organization, auditAction('archive_versions', template), async () => {
    for (const { id } of unused) await setArchived(id, true);
    return ok({ template_id: template.id, archived_ids: unused.map(({ id }) => id) });
  });
};

/** Replaces the environments in the active version's pools. */
const invalidate = async (call: Call) => {
  const template = await managedTemplate(call, 'invalidate_prebuilds');
  const [version, { presets }] = await Promise.all([
    getVersion(template.activeVersionId),
    getFound(template.activeVersionId),
  ]);
  const pooled = presets.filter(hasPool);
  return audited(call, template.organization, auditAction('invalidate_prebuilds', template), async () => {
    const at = new Date().toISOString();
    for (const { id } of pooled) await invalidatePreset(template.id, id, at);
    if (pooled.length) await wakePool(template.id);
    const invalidated = pooled.map(({ name }) => ({
      template_name: template.name,
      template_version_name: version?.name ?? '',
      preset_name: name,
    }));
    return ok({ invalidated });
  });
};

export const templateVersionRoutes: Route[] = [
  route('POST', '/templates/{template}/prebuilds/invalidate', invalidate),
  route('POST', '/organizations/{organization}/templateversions', postVersion),
  route('GET', '/templates/{template}/versions', list, { query: ['include_archived', 'limit', 'offset'] }),
  route('PATCH', '/templates/{template}/versions', promote),
  route('POST', '/templates/{template}/versions/archive', archiveUnused),
  route('GET', '/templates/{template}/versions/{version}', byName),
  route('GET', '/organizations/{organization}/templates/{name}/versions/{version}', byNames),
  route('GET', '/organizations/{organization}/templates/{name}/versions/{version}/previous', previous),
];
