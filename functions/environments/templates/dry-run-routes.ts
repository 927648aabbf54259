import * as v from 'valibot';
import { newId } from '#platform/store/id.ts';
import { getUser } from '#resources/users/users.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { ownerVariables, parameterVariables } from '../builds/environment-variables.ts';
import { resolveParameters } from '../builds/parameters.ts';
import { resolved } from '../builds/resolved.ts';
import { canceled, cancelRuns, checkCancelable, checkExpected } from '../cancel.ts';
import { created, ok } from '../host/answers.ts';
import { listOf, nameValue, readBody, text } from '../host/body.ts';
import { CoderError, forbidden, notFound } from '../host/errors.ts';
import { audited, type Call, type Route, route } from '../host/route.ts';
import { newUuid, uuidIn } from '../host/uuid.ts';
import { jobDocument, jobStatus, matchedProvisioners } from '../jobs.ts';
import { logOfDryRun } from '../logs/dry-run-log.ts';
import { answerLog, logParameters } from '../logs/routes.ts';
import { recordArchive, startRun } from '../runs.ts';
import { createDryRun, type DryRun, dryRunById, settleDryRun } from './dry-runs.ts';
import { importWorkspace, runsOf, settleVersion } from './import.ts';
import { checkImported } from './imported.ts';
import { frozenVariables, startCount } from './variables.ts';
import { resourceDocument } from './version-document.ts';
import { versionById } from './version-routes.ts';
import { getFound, type Version } from './versions.ts';

const body = v.object({
  workspace_name: v.nullish(text(32)),
  rich_parameter_values: listOf(nameValue),
  user_variable_values: listOf(nameValue),
});

const document = (dryRun: DryRun, runs: Parameters<typeof jobDocument>[1]) =>
  jobDocument(dryRun, runs, { type: 'template_version_dry_run', input: { template_version_id: dryRun.versionId } });

const finished = async (candidate: Version): Promise<Version> => {
  const { version } = await settleVersion(candidate);
  if (!version.completedAt) throw new CoderError(425, "Template version import job hasn't completed!");
  return checkImported(version);
};

const create = async (call: Call) => {
  const { version: target, rights } = await versionById(call);
  if (!rights.create) throw forbidden();
  const version = await finished(target);
  const input = readBody(call.request, body);
  if (input.user_variable_values?.length) {
    throw new CoderError(400, 'user_variable_values are not supported in a dry run: push a version with them.');
  }
  const { parameters } = await getFound(version.id);
  const requested = input.rich_parameter_values ?? [];
  const values = resolved(() => resolveParameters({ parameters, requested }));
  const user = await getUser(call.principal.userId);
  const owner = { id: call.principal.userId, username: user?.username ?? '', email: user?.email ?? '' };
  const dryRun: DryRun = {
    jobId: newUuid(),
    versionId: version.id,
    organization: version.organization,
    createdAt: new Date().toISOString(),
    fileId: version.fileId,
    initiatorId: call.principal.userId,
    runIds: [newId('run')],
  };
  const auditAction = { type: 'template_version_dry_run', action: 'create', id: version.id, name: version.name };
  return audited(call, version.organization, auditAction, async () => {
    await createDryRun(dryRun);
    const workspace = (await getWorkspace(version.workspaceId)) ?? (await importWorkspace(version));
    const run = await startRun({
      id: dryRun.runIds[0] ?? '',
      workspace,
      archive: version.archive,
      configurationVersionId: await recordArchive(workspace, version.archive, version.initiatorId),
      createdBy: call.principal.userId,
      message: `Dry run of template version ${version.name}`,
      planOnly: true,
      isDestroy: false,
      variables: [
        ...ownerVariables('start', owner, input.workspace_name || 'dryrun'),
        ...parameterVariables(values),
        ...frozenVariables(version.id, version.variables),
        ...startCount(version.variables, true),
      ],
      belongsTo: `dry-run ${version.id} ${dryRun.jobId}`,
    });
    return created(document(dryRun, [run]));
  });
};

const find = async (call: Call) => {
  const { version, rights } = await versionById(call);
  const dryRun = await dryRunById(version.id, uuidIn(call.request.params.job ?? ''));
  // Only the author of a dry run may see its values.
  if (!dryRun || (dryRun.initiatorId !== call.principal.userId && !rights.manage)) throw notFound();
  return settleDryRun(dryRun);
};

const read = async (call: Call) => {
  const { dryRun, runs } = await find(call);
  return ok(document(dryRun, runs));
};

const resources = async (call: Call) => {
  const { dryRun } = await find(call);
  if (!dryRun.completedAt) throw new CoderError(400, "Job hasn't completed!");
  const { jobId, completedAt: createdAt } = dryRun;
  return ok(
    (dryRun.resources ?? []).map((resource, n) =>
      resourceDocument(resource, { jobId, createdAt, transition: 'start', n }),
    ),
  );
};

const cancel = async (call: Call) => {
  const { dryRun } = await find(call);
  const runs = await runsOf(dryRun);
  const status = jobStatus(dryRun, runs);
  checkCancelable(status);
  checkExpected(call, status);
  const auditAction = { type: 'template_version_dry_run', action: 'cancel', id: dryRun.jobId };
  return audited(call, dryRun.organization, auditAction, async () => {
    await cancelRuns(runs, call.principal.userId);
    return ok(canceled);
  });
};

const base = '/templateversions/{version}/dry-run';

export const dryRunRoutes: Route[] = [
  route('POST', base, create),
  route('GET', `${base}/{job}`, read),
  route('GET', `${base}/{job}/resources`, resources),
  route(
    'GET',
    `${base}/{job}/logs`,
    async (call) => {
      const { dryRun } = await find(call);
      return answerLog(call, { kind: 'dry-run', jobId: `${dryRun.versionId} ${dryRun.jobId}` }, logOfDryRun);
    },
    { query: logParameters },
  ),
  route('GET', `${base}/{job}/matched-provisioners`, async (call) => {
    await find(call);
    return ok(matchedProvisioners());
  }),
  route('PATCH', `${base}/{job}/cancel`, cancel, { query: ['expect_status'] }),
];
