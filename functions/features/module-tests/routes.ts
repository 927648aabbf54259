import { type Answer, created, ok } from '#api/answer.ts';
import { unprocessable } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { list, pageOf } from '#api/pagination.ts';
import { sourceOf } from '#api/request.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { cancelHiddenRun, forceCancelHiddenRun } from '#features/hidden-runs/answers.ts';
import { acceptUpload } from '#lifecycle/creation/create-run.ts';
import { configurationVersionDocument } from '#resources/configurations/document.ts';
import {
  type ConfigurationVersion,
  configurationUploadUrl,
  createConfigurationVersion,
  getConfigurationVersion,
} from '#resources/configurations/records.ts';
import { addressOf } from '#resources/registry/modules/document.ts';
import { moduleByAddress } from '#resources/registry/modules/finder.ts';
import type { Module } from '#resources/registry/modules/records.ts';
import { type TestRun, testRunDocument, testRunId } from './document.ts';
import { checkNewConfiguration, readNewTestRun } from './input.ts';
import { createTestRun, getTestRun, listTestRuns } from './records.ts';

/** Test runs of the registry's modules (HCP API: test runs; Terraform: `terraform test -cloud-run`). */

interface InModule extends Subject {
  module: Module;
  run: TestRun;
}

const testRun: Finder<InModule> = {
  what: 'test run',
  parameter: 'testRun',
  find: async (request) => {
    const module = await moduleByAddress.find(request);
    const run = module && (await getTestRun(module.id, param(request, 'testRun')));
    return module && run && { organization: module.organization, module, run };
  },
  visibleWith: 'registry:read',
  scope: inOrganization,
};

/** @throws {ApiError} 422 */
const checkPrivate = (module: Module): void => {
  if (module.registry !== 'public') return;
  throw unprocessable('/data', `${addressOf(module)} is a public module: only private modules have tests`);
};

/** @throws {ApiError} 422 */
const checkTested = (module: Module): void => {
  checkPrivate(module);
  if (module.tests?.enabled) return;
  throw unprocessable(
    '/data',
    `tests of ${addressOf(module)} are not enabled; set test-config.tests-enabled of the module to true first`,
  );
};

/** The configuration may be uploaded before tests are enabled, as in HCP Terraform. */
const createVersion = async ({ request, subject, principal }: Context<Module>): Promise<Answer> => {
  checkPrivate(subject);
  checkNewConfiguration(request);
  const version = await createConfigurationVersion({
    organization: subject.organization,
    workspaceId: subject.id,
    autoQueueRuns: false,
    speculative: true,
    provisional: false,
    source: 'tfe-api',
    createdBy: principal.userId,
  });
  return created(configurationVersionDocument(version, await configurationUploadUrl(version)));
};

const pointer = '/data/relationships/configuration-version';

/** @throws {ApiError} 422 */
const uploaded = async (module: Module, id: string): Promise<ConfigurationVersion> => {
  const version = await getConfigurationVersion(id);
  if (version?.workspaceId !== module.id) {
    throw unprocessable(pointer, `configuration-version: ${id} not found in module ${addressOf(module)}`);
  }
  const checked = await acceptUpload(version);
  if (checked.status === 'uploaded') return checked;
  throw unprocessable(
    pointer,
    `configuration-version: ${id} is ${checked.status}, not uploaded. ${checked.errorMessage ?? ''}`.trim(),
  );
};

const create = async ({ request, subject, principal }: Context<Module>): Promise<Answer> => {
  checkTested(subject);
  const input = readNewTestRun(request);
  const version = await uploaded(subject, input.configurationVersionId);
  const by = { createdBy: principal.userId, source: sourceOf(request) };
  return created(testRunDocument(await createTestRun(subject, version, input, by), request.baseUrl));
};

const listAll = async ({ request, subject }: Context<Module>): Promise<Answer> => {
  const page = pageOf(request);
  const { items, total } = await listTestRuns(subject.id, page);
  return list(
    request,
    page,
    total,
    items.map((run) => testRunDocument(run, request.baseUrl)),
  );
};

const single = async ({ request, subject }: Context<InModule>): Promise<Answer> =>
  ok(testRunDocument(subject.run, request.baseUrl));

const nameOf = ({ id }: TestRun): string => `Test run ${testRunId(id)}`;

const cancel = ({ subject: { run }, principal }: Context<InModule>): Promise<Answer> =>
  cancelHiddenRun(run, principal.userId, nameOf(run));

const forceCancel = ({ subject: { run }, principal }: Context<InModule>): Promise<Answer> =>
  forceCancelHiddenRun(run, principal.userId, nameOf(run));

export const ofModule =
  '/organizations/{organization}/tests/registry-modules/{registry}/{namespace}/{moduleName}/{moduleProvider}';

/** Tests run code that can read the module's secrets. */
const may = 'registry:write-modules';
const runs = `${ofModule}/test-runs` as const;

export const testRunRoutes: Route[] = [
  route('POST', `${runs}/configuration-versions`, may, moduleByAddress, createVersion),
  route('POST', runs, may, moduleByAddress, create),
  route('GET', runs, may, moduleByAddress, listAll),
  route('GET', `${runs}/{testRun}`, may, testRun, single),
  route('POST', `${runs}/{testRun}/cancel`, may, testRun, cancel),
  route('POST', `${runs}/{testRun}/force-cancel`, may, testRun, forceCancel),
];
