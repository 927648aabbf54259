import * as v from 'valibot';
import { type Answer, accepted, created, done, ok, redirect } from '#api/answer.ts';
import { conflict, notFound, unprocessable } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { list, pageOf } from '#api/pagination.ts';
import { type ApiRequest, sourceOf } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readData, setting } from '#api/validation.ts';
import { presignGet } from '#platform/store/bucket.ts';
import { hasExpired } from '#platform/store/retention.ts';
import { run } from '#resources/runs/finder.ts';
import { checkAdmitted } from '#resources/workspaces/admitted-runs.ts';
import { checkNotDraining } from '#resources/workspaces/drain.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { checkUnmanaged } from '#resources/workspaces/managed.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import {
  archiveConfigurationVersion,
  purgeConfiguration,
  restoreConfiguration,
  softDeleteConfiguration,
} from './backing-data.ts';
import { configurationVersionDocument, ingressDocument, ingressDocuments } from './document.ts';
import { configurationVersion, readableConfigurationVersion, taskConfigurationVersion } from './finder.ts';
import { ingressAttributes } from './ingress-input.ts';
import { latestConfigurationVersion } from './latest.ts';
import {
  type ConfigurationVersion,
  configurationUploadUrl,
  createConfigurationVersion,
  getConfigurationVersion,
  listConfigurationVersions,
} from './records.ts';

const otherFields: OtherFields = {
  shown: 'changed-files error error-message source status status-timestamps upload-url',
};

const include = includable('ingress_attributes', 'run');
const downloadSeconds = 60;

const create = async ({ request, subject, principal }: Context<Workspace>): Promise<Answer> => {
  const { attributes } = readData(
    request,
    {
      'auto-queue-runs': setting(v.boolean()),
      speculative: setting(v.boolean()),
      provisional: setting(v.boolean()),
      'ingress-attributes': setting(ingressAttributes),
    },
    {},
    otherFields,
  );
  checkUnmanaged(subject, 'upload a configuration');
  const autoQueueRuns = attributes['auto-queue-runs'] ?? true;
  if (autoQueueRuns && subject.executionMode !== 'local') {
    checkAdmitted(subject);
    await checkNotDraining();
  }
  if (subject.vcsRepo && !attributes.speculative) {
    throw unprocessable(
      '/data/attributes/speculative',
      `configuration-versions: workspace ${subject.name} takes its configuration from ${subject.vcsRepo.identifier}; push a commit, or upload with speculative: true`,
    );
  }
  const version = await createConfigurationVersion({
    organization: subject.organization,
    workspaceId: subject.id,
    autoQueueRuns,
    speculative: attributes.speculative ?? false,
    provisional: attributes.provisional ?? false,
    source: sourceOf(request),
    ingress: attributes['ingress-attributes'] ?? undefined,
    createdBy: principal.userId,
  });
  return created(configurationVersionDocument(version, await configurationUploadUrl(version)));
};

/** Accepts an upload when its version is read (lifecycle/creation/create-run.ts). */
type AcceptUpload = (version: ConfigurationVersion) => Promise<ConfigurationVersion>;

/** Clients poll here for their upload, before S3's event arrives. */
const read =
  (acceptUpload: AcceptUpload) =>
  async ({ request, subject }: Context<ConfigurationVersion>): Promise<Answer> => {
    const document = configurationVersionDocument(await acceptUpload(subject));
    return ok(document, included(request, [subject]));
  };

const included = (request: ApiRequest, versions: ConfigurationVersion[]) =>
  include.of(request).has('ingress_attributes') ? ingressDocuments(versions) : undefined;

const ingress = async ({ subject }: Context<ConfigurationVersion>): Promise<Answer> => {
  if (subject.ingress) return ok(ingressDocument(subject.id, subject.ingress));
  throw notFound('This configuration version has no ingress attributes.');
};

const listOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const page = pageOf(request);
  const { items, total } = await listConfigurationVersions(subject, page);
  const data = items.map((version) => configurationVersionDocument(version));
  return list(request, page, total, data, included(request, items));
};

/** The current version cannot be archived, because runs that name no version use it. Clients match these words. */
const checkNotCurrent = async ({ id, workspaceId }: ConfigurationVersion): Promise<void> => {
  if ((await latestConfigurationVersion(workspaceId))?.id === id) {
    const detail = `configuration could not be archived because it is current: ${id}`;
    throw conflict(detail, 'transition not allowed');
  }
};

const archive = async ({ subject }: Context<ConfigurationVersion>): Promise<Answer> => {
  await checkNotCurrent(subject);
  if (!(await archiveConfigurationVersion(subject.id))) throw refused(subject, 'archived');
  return accepted();
};

const refused = ({ id, status }: ConfigurationVersion, verb: string) =>
  conflict(`Configuration version ${id} is ${status} and cannot be ${verb}.`);

/** Removes the content, which takes up the space; the record stays. */
const manage =
  (verb: string, change: (id: string) => Promise<ConfigurationVersion | undefined>) =>
  async ({ subject }: Context<ConfigurationVersion>): Promise<Answer> => {
    if (verb !== 'restored') await checkNotCurrent(subject);
    const changed = await change(subject.id);
    if (!changed) throw refused(subject, verb);
    return done();
  };

const download = async (version: ConfigurationVersion | undefined): Promise<Answer> => {
  if (version?.status === 'archived') {
    throw notFound(
      `Configuration version ${version.id} is archived: its files were deleted. ${version.commitArchive ? 'The next run that uses it fetches them again.' : 'Upload the configuration again.'}`,
    );
  }
  if (version?.status !== 'uploaded' || !version.archive)
    throw notFound('The configuration version has no uploaded content. Upload the configuration first.');
  const { key } = version.archive;
  if (await hasExpired(key, version.createdAt)) {
    throw notFound(`The content of configuration version ${version.id} has expired. Upload the configuration again.`);
  }
  return redirect(302, await presignGet(key, downloadSeconds));
};

const ofRun = async ({ subject }: Context<Run>): Promise<ConfigurationVersion> => {
  const version = await getConfigurationVersion(subject.configurationVersionId);
  if (!version) throw notFound('The configuration version of this run was deleted.');
  return version;
};

const base = '/configuration-versions/{version}';

export const configurationVersionRoutes = (acceptUpload: AcceptUpload): Route[] => [
  route('POST', '/workspaces/{workspace}/configuration-versions', 'run:plan', workspace, create),
  route('GET', '/workspaces/{workspace}/configuration-versions', 'configuration:read', workspace, listOfWorkspace, {
    include,
  }),
  route('GET', base, 'configuration:read', readableConfigurationVersion, read(acceptUpload), { include }),
  route('GET', `${base}/ingress-attributes`, 'configuration:read', configurationVersion, ingress),
  route('GET', `${base}/download`, 'configuration:read', taskConfigurationVersion, ({ subject }) => download(subject)),
  route('POST', `${base}/actions/archive`, 'run:apply', configurationVersion, archive),
  route(
    'POST',
    `${base}/actions/soft_delete_backing_data`,
    'data:delete',
    configurationVersion,
    manage('deleted', softDeleteConfiguration),
  ),
  route(
    'POST',
    `${base}/actions/restore_backing_data`,
    'data:delete',
    configurationVersion,
    manage('restored', restoreConfiguration),
  ),
  route(
    'POST',
    `${base}/actions/permanently_delete_backing_data`,
    'data:delete',
    configurationVersion,
    manage('deleted for good', purgeConfiguration),
  ),
  route('GET', '/runs/{run}/configuration-version', 'configuration:read', run, async (context) =>
    ok(configurationVersionDocument(await ofRun(context))),
  ),
  route('GET', '/runs/{run}/configuration-version/download', 'configuration:read', run, async (context) =>
    download(await ofRun(context)),
  ),
];
