import type { Resource } from '#clients/client/client.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { FormButton } from '#clients/web/parts/dialog.tsx';
import { Text } from '#clients/web/parts/fields.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { account, call, related } from '#clients/web/session.ts';

/**
 * Shows who holds the lock, and unlocks. A run unlocks by itself, unless its apply left an errored
 * state that must be pushed first.
 */
export const LockBar = ({ workspace, onChange }: { workspace: Resource<'workspaces'>; onChange(): void }) => {
  const { attributes } = workspace;
  const by = holderOf(workspace);
  if (!by || (by.type === 'runs' && !waitsForState(workspace))) return null;
  const isOwnLock = by.id === account.value?.id;
  const { 'can-unlock': canUnlock, 'can-force-unlock': canForce } = attributes.permissions;
  const act = (action: string) => call('POST', `/workspaces/${workspace.id}/actions/${action}`, {});
  return (
    <Notice kind="warn">
      <div class="row spread">
        <p class="grow">
          <strong>
            Locked by {by.type === 'runs' ? <RunLink workspace={workspace} id={by.id} /> : <Person id={by.id} />}.
          </strong>{' '}
          {by.type === 'runs' ? attributes['locked-reason'] : 'Runs wait until it is unlocked.'}
          {by.type !== 'runs' && attributes['locked-reason'] && (
            <span class="soft"> “{attributes['locked-reason']}”</span>
          )}
        </p>
        {isOwnLock && canUnlock && <ActionButton text="Unlock" work={() => act('unlock')} onDone={onChange} />}
        {!isOwnLock && canForce && (
          <ActionButton text="Force unlock" danger work={() => act('force-unlock')} onDone={onChange} />
        )}
      </div>
    </Notice>
  );
};

/** Lock button, for users with permission while the workspace is unlocked. */
export const LockButton = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const { locked, permissions, name } = workspace.attributes;
  if (locked || !permissions['can-lock']) return null;
  return (
    <FormButton
      text="Lock"
      title={`Lock ${name}`}
      submit="Lock workspace"
      onSubmit={(_, { reason }) => call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: reason ?? '' })}
    >
      <p class="soft">Runs stay pending while the workspace is locked.</p>
      <Text label="Reason" name="reason" autoFocus hint="Shown here and in Terraform." />
    </FormButton>
  );
};

const holderOf = ({ attributes, relationships }: Resource<'workspaces'>) => {
  const by = relationships?.['locked-by']?.data;
  return attributes.locked && by && !Array.isArray(by) ? by : undefined;
};

/** A finished run holds the lock; its reason tells what to do. */
const waitsForState = ({ attributes }: Resource<'workspaces'>): boolean =>
  !attributes['locked-reason']?.startsWith('Locked by Run');

const RunLink = ({ workspace, id, text = id }: { workspace: Resource<'workspaces'>; id: string; text?: string }) => {
  const organization = related(workspace, 'organization') ?? '';
  return <a href={hrefOf({ view: 'run', organization, workspace: workspace.attributes.name, run: id })}>{text}</a>;
};

/** Lock status, and the run or user that holds the lock. */
export const lockStatus = (workspace: Resource<'workspaces'>) => {
  const by = holderOf(workspace);
  if (!by) return 'Unlocked';
  const holder = by.type === 'runs' ? <RunLink workspace={workspace} id={by.id} text="a run" /> : <Person id={by.id} />;
  return <>Locked by {holder}</>;
};
