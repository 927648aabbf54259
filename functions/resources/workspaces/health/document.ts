import { one, type Resource } from '#api/answer.ts';
import { allChecksSucceeded, isDrifted } from '#run/health.ts';
import type { HealthResult } from '#run/health-record.ts';
import { assessmentResultId } from '#run/notifications/health.ts';
import type { Workspace } from '../records.ts';

/** HCP API: assessment results. */
export const healthDocument = (result: HealthResult, workspaceId: string) => {
  const id = assessmentResultId(result.runId);
  const self = `/api/v2/assessment-results/${id}`;
  const message = result.message ?? null;
  return {
    id,
    type: 'assessment-results',
    attributes: {
      succeeded: result.succeeded,
      drifted: isDrifted(result) ?? null,
      'all-checks-succeeded': allChecksSucceeded(result) ?? null,
      'resources-drifted': result.resourcesDrifted ?? null,
      'resources-undrifted': result.resourcesUndrifted ?? null,
      'checks-passed': result.checksPassed ?? null,
      'checks-failed': result.checksFailed ?? null,
      'checks-errored': result.checksErrored ?? null,
      'checks-unknown': result.checksUnknown ?? null,
      /** Not in HCP's API: the check blocks that failed, with their messages. */
      'failed-checks': result.failedChecks ?? [],
      'error-message': message,
      // Older name of the attribute.
      'error-msg': message,
      'created-at': result.at,
    },
    relationships: {
      workspace: one('workspaces', workspaceId),
      source: one('assessments', result.runId.replace(/^run-/, 'asmt-')),
    },
    links: {
      self,
      'json-output': result.hasPlan ? `${self}/json-output` : null,
      /** Not in HCP's API: without secret values. */
      'json-output-redacted': result.hasPlan ? `${self}/json-output-redacted` : null,
      'json-schema': result.hasPlan ? `${self}/json-schema` : null,
      'log-output': `${self}/log-output`,
      'sanitized-plan': null,
    },
  };
};

/** The newest result of a workspace, if it has one. */
export const healthDocuments = ({ id, health }: Workspace): Resource[] => (health ? [healthDocument(health, id)] : []);
