import type { Resource } from '#clients/client/client.ts';
import { go } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { isOver } from '#clients/web/parts/status.tsx';
import { create, related } from '#clients/web/session.ts';

const applied = new Set(['applied', 'planned_and_finished', 'planned_and_saved', 'policy_soft_failed']);

const options = [
  'is-destroy',
  'refresh',
  'refresh-only',
  'plan-only',
  'save-plan',
  'allow-empty-apply',
  'allow-config-generation',
  'target-addrs',
  'replace-addrs',
  'invoke-action-addrs',
  'variables',
] as const;

const prefix = 'Retry: ';

/** Starts a run with the same configuration and options, but with the workspace's current auto-apply setting. */
const retry = (run: Resource<'runs'>): Promise<Resource> => {
  const { attributes } = run;
  const version = related(run, 'configuration-version');
  const message: string = attributes.message;
  return create(
    '/runs',
    'runs',
    {
      message: message.startsWith(prefix) ? message : `${prefix}${message}`,
      ...Object.fromEntries(options.flatMap((name) => (attributes[name] == null ? [] : [[name, attributes[name]]]))),
      ...(attributes['plan-only'] ? { 'terraform-version': attributes['terraform-version'] } : {}),
    },
    {
      workspace: { data: { type: 'workspaces', id: related(run, 'workspace') } },
      ...(version ? { 'configuration-version': { data: { type: 'configuration-versions', id: version } } } : {}),
    },
  );
};

interface RetryProps extends OrganizationProps {
  run: Resource<'runs'>;
  workspace: Resource<'workspaces'> | undefined;
}

/** For runs that failed or were stopped, if the user may start runs. */
export const Retry = ({ run, workspace, organization }: RetryProps) => {
  if (!workspace?.attributes.permissions['can-queue-run']) return null;
  if (!isOver(run) || applied.has(run.attributes.status)) return null;
  const start = async () => {
    const { id } = await retry(run);
    go({ view: 'run', organization, workspace: workspace.attributes.name, run: id });
  };
  return (
    <ActionButton
      text="Retry"
      working="Starting …"
      title="Start a run with the same configuration and options"
      work={start}
    />
  );
};
