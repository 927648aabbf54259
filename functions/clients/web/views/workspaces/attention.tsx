import type { Resource } from '#clients/client/client.ts';
import { failedChecksOf, problemsOf } from '#clients/client/text/health.ts';
import { count, exactTime } from '#clients/client/text/time.ts';
import { clock } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { WorkspaceAndRun } from '#clients/web/organization.ts';
import { Ago, Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { FailedChecks } from '#clients/web/parts/failed-checks.tsx';
import { failedIn, Status, since } from '#clients/web/parts/status.tsx';
import { change, related } from '#clients/web/session.ts';

/** Problems of a workspace, their times, and links to the next step. */
export const Attention = ({ workspace, run, health }: Omit<WorkspaceAndRun, 'project'>) => {
  const organization = related(workspace, 'organization') ?? '';
  const { name, 'tainted-count': tainted } = workspace.attributes;
  const healthTab = hrefOf({ view: 'workspace', organization, workspace: name, tab: 'health' });
  return (
    <>
      {run?.attributes.status === 'errored' && (
        <Notice kind="bad">
          <p>
            <strong>The latest run failed</strong> <Ago at={since(run)} />. <Status run={run} />
          </p>
          <p class="break">{run.attributes['end-reason']}</p>
          <a href={hrefOf({ view: 'run', organization, workspace: name, run: run.id }) + failedIn(run)}>See the run</a>
        </Notice>
      )}
      {tainted > 0 && (
        <Notice kind="warn">
          <p>
            <strong>{count(tainted, 'tainted resource')}.</strong> The next plan replaces{' '}
            {tainted === 1 ? 'it' : 'them'}.
          </p>
          <a href={hrefOf({ view: 'workspace', organization, workspace: name, tab: 'resources' })}>See the resources</a>
        </Notice>
      )}
      <DestructionSoon workspace={workspace} />
      {run && (
        <FailedChecks checks={failedChecksOf(run, health)}>
          <a href={hrefOf({ view: 'run', organization, workspace: name, run: run.id })}>See the run</a>
        </FailedChecks>
      )}
      {health && problemsOf(health, undefined).length > 0 && (
        <Notice kind="warn">
          <p>
            <strong>
              {problemsOf(health, undefined)
                .map(({ text }) => text)
                .join(', ')}
              .
            </strong>{' '}
            Assessed <Ago at={health.attributes['created-at']} />.
          </p>
          {findings(health.attributes).map((text) => (
            <p key={text} class="break">
              {text}
            </p>
          ))}
          <a href={healthTab}>See what to do</a>
        </Notice>
      )}
    </>
  );
};

const dayMs = 86_400_000;

/** Announces an automatic destruction within a day, and postpones it. */
const DestructionSoon = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const { attributes } = workspace;
  const { 'auto-destroy-at': at, permissions, 'resource-count': resources } = attributes;
  const followsActivity = attributes['auto-destroy-activity-duration'] || attributes['inherits-project-auto-destroy'];
  if (!at || resources === 0 || Date.parse(at) - clock.value > dayMs) return null;
  const postpone = () =>
    change(`/workspaces/${workspace.id}`, 'workspaces', {
      'auto-destroy-at': new Date(Date.parse(at) + dayMs).toISOString(),
    });
  return (
    <Notice kind="warn">
      <div class="row spread">
        <p class="grow">
          <strong>{count(resources, 'resource')} will be destroyed automatically</strong> at {exactTime(at)}.
          {followsActivity && ' A change of the state postpones this.'}
        </p>
        {permissions['can-update'] && !followsActivity && <ActionButton text="Postpone by a day" work={postpone} />}
      </div>
    </Notice>
  );
};

const findings = (result: Resource<'assessment-results'>['attributes']): string[] => [
  ...(result['error-message'] ? [result['error-message']] : []),
  ...(result.drifted ? [`${count(result['resources-drifted'] ?? 0, 'resource')} changed outside of Terraform.`] : []),
  ...result['failed-checks'].map(({ address, message }) => `${address}: ${message}`),
];
