import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, text, toOne } from '#api/validation.ts';
import { runVariables } from '#lifecycle/creation/new-run-input.ts';
import type { ModuleTest } from '#run/module-test-record.ts';
import type { Run } from '#run/run.ts';

/** Input of test runs (HCP API: test runs). */

const otherFields: OtherFields = {
  shown: `created-at log-read-url source status status-timestamps test-configurable-id test-configurable-type test-status
      tests-errored tests-failed tests-passed tests-skipped updated-at`,
  related: 'registry-module',
};

/** The path becomes an argument of Terraform, so it must not look like a flag or point outside the module. */
const path = v.pipe(
  text(500),
  v.regex(/^[^\s-][^\r\n]*$/, 'must be a path inside the module such as "tests/network.tftest.hcl"'),
  v.check(
    (path) => !path.startsWith('/') && !path.split(/[/\\]/).includes('..'),
    'must be a path inside the module, without ".."',
  ),
);

const attributes = {
  message: setting(text(10_000)),
  filters: setting(v.pipe(v.array(path), v.maxLength(100, 'may have at most 100 files'))),
  'test-directory': setting(path),
  verbose: setting(v.boolean()),
  parallelism: setting(
    v.pipe(v.number(), v.integer(), v.minValue(1, 'must be at least 1'), v.maxValue(256, 'may be at most 256')),
  ),
  variables: setting(runVariables),
};

/** The request has no options; most clients send no body. @throws {ApiError} 400 or 422 */
export const checkNewConfiguration = (request: ApiRequest): void => {
  const shown = 'auto-queue-runs provisional source speculative status upload-url';
  if (request.bytes > 0) readData(request, {}, {}, { shown });
};

const usualDirectory = 'tests';

export interface NewTestRun extends Omit<ModuleTest, 'moduleId'>, Pick<Run, 'variables' | 'message'> {
  configurationVersionId: string;
}

/** @throws {ApiError} 400 or 422 */
export const readNewTestRun = (request: ApiRequest): NewTestRun => {
  const relationships = { 'configuration-version': v.optional(toOne('configuration-versions')) };
  const input = readData(request, attributes, relationships, otherFields);
  const configurationVersionId = input.relationships['configuration-version']?.data?.id;
  if (configurationVersionId === undefined) {
    throw unprocessable('/data/relationships/configuration-version', 'configuration-version: is missing');
  }
  const { message, filters, verbose, variables, parallelism, 'test-directory': directory } = input.attributes;
  return {
    configurationVersionId,
    message: message ?? '',
    filters: filters ?? [],
    directory: directory || usualDirectory,
    verbose: verbose ?? false,
    variables: variables ?? [],
    ...(parallelism ? { parallelism } : {}),
  };
};
