import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useList } from '#clients/web/live.ts';
import { may, type OrganizationProps, useOrganization } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton, SmallButton } from '#clients/web/parts/button.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Select } from '#clients/web/parts/fields.tsx';
import { Line, List, Tags } from '#clients/web/parts/list.tsx';
import { related } from '#clients/web/session.ts';
import { askedPermissions, permissionsText } from '#clients/web/text/access.ts';

/** Users and teams with a permission, as the platform decides it for a request. */

type Entry = Resource<'access-entries'>;

interface ListProps extends OrganizationProps {
  filter: string;
  label: string;
  none: string;
  title(entry: Entry): string;
  about(entry: Entry): string | undefined;
}

const Entries = ({ organization, filter, label, none, title, about }: ListProps) => {
  const live = useList<'access-entries'>(`/organizations/${organization}/access-report?${filter}`);
  return (
    <Loaded live={live} what="access">
      {(entries) => (
        <List plain label={label} of={entries} none={none}>
          {(entry) => (
            <Line
              key={entry.id}
              title={
                <>
                  {title(entry)} <Tags of={entry.attributes.through} />
                </>
              }
              about={about(entry)}
            />
          )}
        </List>
      )}
    </Loaded>
  );
};

interface WhoProps extends OrganizationProps {
  what: 'workspace' | 'project';
  id: string;
}

/** People and teams with one permission on a workspace or project. */
export const UsersWithAccess = ({ what, id, organization }: WhoProps) => {
  useOrganization(organization);
  return may(organization, 'can-view-users') ? (
    <DialogButton small text="Users with access">
      {(close) => <AccessDialog what={what} id={id} organization={organization} onClose={close} />}
    </DialogButton>
  ) : null;
};

const AccessDialog = ({ what, id, organization, onClose }: WhoProps & { onClose(): void }) => {
  const permission = useSignal<string>('run:apply');
  const isTeam = (entry: Entry) => related(entry, 'holder')?.startsWith('team-');
  return (
    <Dialog title={`Access to this ${what}`} onClose={onClose}>
      <Select label="Permission" options={askedPermissions} name="permission" chosen={permission} />
      <Entries
        key={permission.value}
        organization={organization}
        filter={`filter[${what}][id]=${id}&filter[permission]=${permission.value}`}
        label="Users and teams"
        none="No user or team has this permission."
        title={({ attributes }) => attributes['holder-name']}
        about={(entry) => (isTeam(entry) ? 'Tokens of this team' : undefined)}
      />
      <div>
        <SmallButton text="Close" onClick={onClose} />
      </div>
    </Dialog>
  );
};

/** Access of one member: in the organization, and in the projects and workspaces of their teams. */
export const MemberAccess = ({ organization, user, name }: OrganizationProps & { user: string; name: string }) => (
  <DialogButton small text="Access" of={name}>
    {(close) => (
      <Dialog title={`Access of ${name}`} onClose={close}>
        <Entries
          organization={organization}
          filter={`filter[user][id]=${user}`}
          label="Access"
          none="Nothing."
          title={({ attributes }) => attributes['place-name']}
          about={({ attributes: { through, permissions } }) =>
            through.includes('owners') ? 'All permissions' : permissionsText(permissions)
          }
        />
        <div>
          <SmallButton text="Close" onClick={close} />
        </div>
      </Dialog>
    )}
  </DialogButton>
);
