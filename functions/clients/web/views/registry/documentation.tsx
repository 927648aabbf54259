import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { base, useQuery } from '#clients/web/location.ts';
import { Ago, Code, Facts, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { ExternalLink, Markdown } from '#clients/web/parts/markdown.tsx';
import { apiPath, type Details, detailsOf, type Input, type ModuleAddress, usableVersions } from './module-api.ts';

/** Documentation of a module version: usage, inputs and outputs. */
export const Documentation = ({
  module,
  address,
}: {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
}) => {
  const version = useQuery('version');
  const versions = usableVersions(module);
  const live = useLive(
    `${apiPath(address)} ${version.value} ${versions.length}`,
    () => detailsOf(address, version.value),
    () => undefined,
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
            onChoose={(next) => {
              version.value = next;
            }}
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
        <section class="panel pad stack" aria-label="Use">
          <h2>Use it</h2>
          <Code label="Configuration" text={blockFor(address, details.version, shown.path, shown.inputs)} />
        </section>
        {shown.readme && (
          <section class="panel pad" aria-label="README">
            <Markdown text={shown.readme} />
          </section>
        )}
        <Inputs inputs={shown.inputs} />
        <Outputs outputs={shown.outputs} />
        <Resources resources={shown.resources} />
      </div>
      <aside class="panel pad stack" aria-label="Version">
        <label class="field">
          <span class="label">Version</span>
          <select onChange={(event) => onChoose(event.currentTarget.value)}>
            {versions.map((version) => (
              <option key={version} value={version} selected={version === details.version}>
                {version}
              </option>
            ))}
          </select>
        </label>
        {parts.length > 1 && (
          <label class="field">
            <span class="label">Part</span>
            <select onChange={(event) => (part.value = event.currentTarget.value)}>
              {parts.map(({ path }) => (
                <option key={path} value={path} selected={path === shown.path}>
                  {path || 'Root module'}
                </option>
              ))}
            </select>
          </label>
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

/** Runs reach the platform's registry by this name on every platform. */
const runHost = 'localterraform.com';

/** Terraform rejects module hosts without a dot, such as localhost. */
const hostOf = (url: string): string => {
  const { host, hostname } = new URL(url);
  return hostname.includes('.') && !/^[\d.]+$/.test(hostname) ? host : runHost;
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

const Inputs = ({ inputs }: { inputs: Input[] }) => (
  <section class="panel" aria-label="Inputs">
    <h2 class="pad">Inputs</h2>
    {inputs.length === 0 ? (
      <p class="pad soft">No inputs.</p>
    ) : (
      <div class="scrolls">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Default</th>
            </tr>
          </thead>
          <tbody>
            {[...inputs]
              .sort((a, b) => Number(b.required) - Number(a.required))
              .map((input) => (
                <tr key={input.name}>
                  <th scope="row" class="break">
                    <span class="mono">{input.name}</span> {input.sensitive && <span class="tag">sensitive</span>}
                    {input.description && <div class="soft small">{input.description}</div>}
                  </th>
                  <td class="break mono" data-label="Type">
                    {input.type}
                  </td>
                  <td class="break" data-label="Default">
                    {input.required ? <span class="tag">required</span> : <code>{input.default}</code>}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    )}
  </section>
);

const Outputs = ({ outputs }: { outputs: Details['root']['outputs'] }) => (
  <section class="panel" aria-label="Outputs">
    <h2 class="pad">Outputs</h2>
    {outputs.length === 0 ? (
      <p class="pad soft">No outputs.</p>
    ) : (
      <div class="scrolls fits">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Description</th>
            </tr>
          </thead>
          <tbody>
            {outputs.map(({ name, description, sensitive }) => (
              <tr key={name}>
                <th scope="row" class="break">
                  <span class="mono">{name}</span> {sensitive && <span class="tag">sensitive</span>}
                </th>
                <td class="break">{description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </section>
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
