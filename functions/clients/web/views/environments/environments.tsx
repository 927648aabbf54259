import { useSignal } from '@preact/signals';
import { type Environment, read, segment, toneOf } from '#clients/web/environments.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf, useQuery } from '#clients/web/location.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Filter, optionsOf } from '#clients/web/parts/filters.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { account } from '#clients/web/session.ts';
import { Until } from './until.tsx';

const everyMs = 3_000;

const pathOf = (organization: string): string => `/workspaces?q=${segment(`organization:"${organization}"`)}`;

/** Environments of the organization: the user's own, and those of others with permission. */
export const Environments = ({ organization }: { organization: string }) => {
  const live = useLive(
    `environments/${organization}`,
    () => read<{ workspaces: Environment[] }>(pathOf(organization)),
    () => everyMs,
  );
  return (
    <OrganizationShell organization={organization} at="environments">
      <Head title="Environments" />
      <Loaded live={live} what="environments">
        {({ workspaces }) =>
          workspaces.length === 0 ? (
            <p class="panel pad soft">
              No environments yet. Create one from a <a href={hrefOf({ view: 'templates', organization })}>template</a>,
              here or with <code>coder create</code>.
            </p>
          ) : (
            <List environments={workspaces} organization={organization} />
          )
        }
      </Loaded>
    </OrganizationShell>
  );
};

const List = ({ environments, organization }: { environments: Environment[]; organization: string }) => {
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
        <input
          type="search"
          aria-label="Search environments by name"
          placeholder="Search by name"
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
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
        <ul class="panel list" aria-label="Environments">
          {matching.map((environment) => (
            <Line key={environment.id} environment={environment} organization={organization} />
          ))}
        </ul>
      )}
    </>
  );
};

const Line = ({ environment, organization }: { environment: Environment; organization: string }) => {
  const { id, name, latest_build: build, outdated, dormant_at: dormant, is_prebuild: isPrebuild } = environment;
  const isOwn = environment.owner_name === account.value?.attributes.username;
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'environment', organization, id })}>
        <span class="row">
          <span class="title">{isOwn ? name : `${environment.owner_name}/${name}`}</span>
          {isPrebuild && <span class="tag">prebuild</span>}
          {dormant && <span class="tag">dormant</span>}
          {outdated && <span class="tag">outdated</span>}
        </span>
        <span class="meta">
          {environment.template_name} {build.template_version_name} · last built <Ago at={build.created_at} />
        </span>
        <span class="end">
          <span class={`status ${toneOf(build.status)}`}>{build.status}</span>
          {build.status === 'running' && build.deadline && (
            <span class="meta">
              stops <Until at={build.deadline} />
            </span>
          )}
        </span>
      </a>
    </li>
  );
};
