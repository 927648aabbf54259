import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { base, useQuery } from '#clients/web/location.ts';
import { Ago, Code, Facts, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Filter } from '#clients/web/parts/filters.tsx';
import { Table, Tags } from '#clients/web/parts/list.tsx';
import { ExternalLink, Markdown } from '#clients/web/parts/markdown.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { genericHost } from '#platform/net/generic-host.ts';
import type { Input } from '#resources/registry/modules/content.ts';
import { apiPath, type Details, detailsOf, type ModuleAddress, usableVersions } from './module-api.ts';

interface DocumentationProps {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
}

/** Documentation of a module version: usage, inputs and outputs. */
export const Documentation = ({ module, address }: DocumentationProps) => {
  const version = useQuery('version');
  const versions = usableVersions(module);
  const live = useLive(`${apiPath(address)} ${version.value} ${versions.length}`, () =>
    detailsOf(address, version.value),
  );
  if (versions.length === 0) return <Unpublished module={module} />;
  return (
    <Loaded live={live} what="version">
      {(details) =>
        details && (
          <Version
            key={details.version}
            details={details}
            versions={versions}
            address={address}
            onChoose={(next) => (version.value = next)}
          />
        )
      }
    </Loaded>
  );
};

const Unpublished = ({ module }: { module: Resource<'registry-modules'> }) => {
  const failures = module.attributes['version-statuses'].filter(({ error }) => error);
  if (failures.length === 0) {
    return <p class="panel pad soft">No version yet. Publish one under Versions.</p>;
  }
  return (
    <Notice kind="bad">
      {failures.map(({ version, error }) => (
        <p key={version}>
          <strong>{version}</strong>: {error}
        </p>
      ))}
    </Notice>
  );
};

interface VersionProps {
  details: Details;
  versions: string[];
  address: ModuleAddress;
  onChoose(version: string): void;
}

const Version = ({ details, versions, address, onChoose }: VersionProps) => {
  const part = useSignal('');
  const { root, submodules, examples, deprecation } = details;
  const parts = [root, ...submodules, ...examples];
  const shown = parts.find(({ path }) => path === part.value) ?? root;
  return (
    <div class="sides">
      <div class="stack">
        {deprecation && (
          <Notice kind="warn">
            <strong>Version {details.version} is deprecated.</strong> {deprecation.reason}
            {/^https?:\/\//.test(deprecation.link) && (
              <>
                {' '}
                <ExternalLink href={deprecation.link}>More about it</ExternalLink>
              </>
            )}
          </Notice>
        )}
        <Panel title="Use it" label="Use">
          <Code label="Configuration" text={blockFor(address, details.version, shown.path, shown.inputs)} />
        </Panel>
        {shown.readme && (
          <section class="panel pad" aria-label="README">
            <Markdown text={shown.readme} />
          </section>
        )}
        <Declared title="Inputs" none="No inputs." heads={['Name', 'Type', 'Default']}>
          {[...shown.inputs].sort((a, b) => Number(b.required) - Number(a.required)).map(inputRow)}
        </Declared>
        <Declared title="Outputs" none="No outputs." heads={['Name', 'Description']}>
          {shown.outputs.map(outputRow)}
        </Declared>
        <Resources resources={shown.resources} />
      </div>
      <aside class="panel pad stack" aria-label="Version">
        <label class="field">
          <span class="label">Version</span>
          <select value={details.version} onChange={(event) => onChoose(event.currentTarget.value)}>
            {versions.map((version) => (
              <option key={version} value={version}>
                {version}
              </option>
            ))}
          </select>
        </label>
        {parts.length > 1 && (
          <div class="field">
            <span class="label">Part</span>
            <Filter label="Part" chosen={part} options={parts.map(({ path }) => [path, path || 'Root module'])} />
          </div>
        )}
        <Facts
          facts={[
            ['Published', <Ago key="at" at={details.published_at} />],
            ['Providers', namesOf(shown.provider_dependencies)],
            ['Modules', namesOf(shown.dependencies)],
          ]}
        />
      </aside>
    </div>
  );
};

const namesOf = (list: { name: string; source: string; version: string }[]) =>
  list.length === 0
    ? 'none'
    : list.map(({ name, source, version }) => (
        <span key={name} class="entry">
          {source || name} {version}
        </span>
      ));

/** Terraform rejects module hosts without a dot, such as localhost. */
const hostOf = (url: string): string => {
  const { host, hostname } = new URL(url);
  return hostname.includes('.') && !/^[\d.]+$/.test(hostname) ? host : genericHost;
};

const blockFor = (address: ModuleAddress, version: string, path: string, inputs: Input[]): string => {
  const { namespace, name, provider } = address;
  const source = `${hostOf(base)}/${namespace}/${name}/${provider}${path && `//${path}`}`;
  const required = inputs.filter((input) => input.required).map((input) => input.name);
  const width = Math.max(...['version', ...required].map(({ length }) => length));
  const lines: [string, string][] = [
    ['source', `"${source}"`],
    ['version', `"${version}"`],
  ];
  const given = required.map((input): [string, string] => [input, '…']);
  const line = ([key, value]: [string, string]) => `  ${key.padEnd(width)} = ${value}`;
  return [`module "${name}" {`, ...lines.map(line), ...(given.length ? ['', ...given.map(line)] : []), '}'].join('\n');
};

interface DeclaredProps {
  title: string;
  none: string;
  heads: string[];
  children: VNode[];
}

const Declared = ({ title, none, heads, children }: DeclaredProps) => (
  <section class="panel" aria-label={title}>
    <h2 class="pad">{title}</h2>
    {children.length === 0 ? (
      <p class="pad soft">{none}</p>
    ) : (
      <div class="scrolls">
        <Table class="stacks" heads={heads}>
          {children}
        </Table>
      </div>
    )}
  </section>
);

const inputRow = (input: Input) => (
  <tr key={input.name}>
    <th scope="row" class="break">
      <span class="mono">{input.name}</span> <Tags of={[input.sensitive && 'sensitive']} />
      {input.description && <div class="soft small">{input.description}</div>}
    </th>
    <td class="break mono" data-label="Type">
      {input.type}
    </td>
    <td class="break" data-label="Default">
      {input.required ? <span class="tag">required</span> : <code>{input.default}</code>}
    </td>
  </tr>
);

const outputRow = ({ name, description, sensitive }: Details['root']['outputs'][number]) => (
  <tr key={name}>
    <th scope="row" class="break">
      <span class="mono">{name}</span> <Tags of={[sensitive && 'sensitive']} />
    </th>
    <td class="break">{description}</td>
  </tr>
);

const Resources = ({ resources }: { resources: Details['root']['resources'] }) =>
  resources.length === 0 ? null : (
    <section class="panel pad stack tight" aria-label="Resources">
      <h2>Resources</h2>
      <ul>
        {resources.map(({ type, name }) => (
          <li key={`${type}.${name}`} class="mono break">
            {type}.{name}
          </li>
        ))}
      </ul>
    </section>
  );
