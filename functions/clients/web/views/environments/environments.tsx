import { useSignal } from '@preact/signals';
import { type Environment, read, segment, toneOf, useRights } from '#clients/web/environments.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf, useQuery } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Filter, optionsOf, Search } from '#clients/web/parts/filters.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { account } from '#clients/web/session.ts';
import { Actions } from './actions.tsx';
import { Until } from './until.tsx';

const load = (organization: string) =>
  read<{ workspaces: Environment[] }>(`/workspaces?q=${segment(`organization:"${organization}"`)}`);

/** Environments of the organization: the user's own, and those of others with permission. */
export const Environments = ({ organization }: OrganizationProps) => {
  const live = useLive(`environments/${organization}`, () => load(organization), 3_000);
  const rights = useRights(organization);
  return (
    <OrganizationShell
      organization={organization}
      at="environments"
      action={
        rights.create && (
          <a class="button primary" href={hrefOf({ view: 'templates', organization })}>
            Create environment
          </a>
        )
      }
    >
      <Loaded live={live} what="environments">
        {({ workspaces }) =>
          workspaces.length === 0 ? (
            <None organization={organization} mayCreate={rights.create} />
          ) : (
            <Found
              environments={workspaces}
              organization={organization}
              mayManage={rights.manage}
              onChange={live.refresh}
            />
          )
        }
      </Loaded>
    </OrganizationShell>
  );
};

const None = ({ organization, mayCreate }: OrganizationProps & { mayCreate: boolean }) => (
  <p class="panel pad soft">
    No environments yet.{' '}
    {mayCreate ? (
      <>
        Create one from a <a href={hrefOf({ view: 'templates', organization })}>template</a>, here or with{' '}
        <code>coder create</code>.
      </>
    ) : (
      'To create one, you need permission to plan runs in a project.'
    )}
  </p>
);

interface ListProps extends OrganizationProps {
  mayManage: boolean;
  onChange(): void;
}

const Found = ({ environments, ...props }: ListProps & { environments: Environment[] }) => {
  const [status, template, owner] = [useQuery('status'), useQuery('template'), useQuery('owner')];
  const text = useSignal('');
  const sought = text.value.trim().toLowerCase();
  const matching = environments.filter(
    (environment) =>
      (!status.value || environment.latest_build.status === status.value) &&
      (!template.value || environment.template_name === template.value) &&
      (!owner.value || environment.owner_name === owner.value) &&
      `${environment.owner_name}/${environment.name}`.toLowerCase().includes(sought),
  );
  return (
    <>
      <div class="row">
        <Search label="Search environments by name" placeholder="Search by name" text={text} />
        <Filter
          label="Status"
          all="All statuses"
          chosen={status}
          options={optionsOf(environments.map(({ latest_build: { status: one } }) => one))}
        />
        <Filter
          label="Template"
          all="All templates"
          chosen={template}
          options={optionsOf(environments.map((environment) => environment.template_name))}
        />
        <Filter
          label="Owner"
          all="All owners"
          chosen={owner}
          options={optionsOf(environments.map((environment) => environment.owner_name))}
        />
      </div>
      {matching.length === 0 ? (
        <p class="soft">No environment matches the filters.</p>
      ) : (
        <List label="Environments" of={matching}>
          {(environment) => <EnvironmentLine key={environment.id} environment={environment} {...props} />}
        </List>
      )}
    </>
  );
};

/** An environment in a list. */
export const EnvironmentLine = (props: ListProps & { environment: Environment }) => {
  const { environment, organization, mayManage, onChange } = props;
  const { id, name, latest_build: build, outdated, dormant_at: dormant, is_prebuild: isPrebuild } = environment;
  const isOwn = environment.owner_name === account.value?.attributes.username;
  return (
    <Item
      to={{ view: 'environment', organization, id }}
      title={isOwn ? name : `${environment.owner_name}/${name}`}
      tags={[isPrebuild && 'prebuild', dormant && 'dormant', outdated && 'outdated']}
      meta={
        <>
          {environment.template_name} {build.template_version_name} · last built <Ago at={build.created_at} />
        </>
      }
      end={<span class={`status ${toneOf(build.status)}`}>{build.status}</span>}
      notes={
        build.status === 'running' && build.deadline
          ? [
              <>
                stops <Until at={build.deadline} />
              </>,
            ]
          : []
      }
    >
      {(!isPrebuild || mayManage) && <Actions environment={environment} mayOrphan={false} short onChange={onChange} />}
    </Item>
  );
};
