import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { ApiError, Client, type Resource } from '#clients/client/client.ts';
import { type Address, addressOf, findAddress, findToken } from './address.ts';
import { type CloudBlock, readCloudBlock } from './cloud-block.ts';
import { CommandError, exit, wrongUsage } from './exit.ts';
import { findLocalPlatform, type LocalPlatform } from './local-platform.ts';
import { nearest } from './nearest-word.ts';
import { program, userAgent } from './program.ts';

/** Trusts the user's own certificate authority, like Terraform. */
const trustOwnAuthority = (): void => {
  const file = process.env.SSL_CERT_FILE;
  if (!file) return;
  try {
    const usual = tls.getCACertificates('default');
    const own = readFileSync(file, 'utf8');
    // Among others, a text without a certificate is ignored.
    tls.setDefaultCACertificates([own]);
    tls.setDefaultCACertificates([...usual, own]);
  } catch (error) {
    throw new CommandError(`SSL_CERT_FILE (${file}) is not a valid certificate: ${(error as Error).message}`);
  }
};

/** The options of a command as typed. */
interface Call {
  text(name: string): string | undefined;
}

/** Host and source of a token. */
export interface Credentials {
  host: string;
  from: string;
}

/**
 * Server, organization and workspace of a command, resolved on first use, so that a command requires only the ones it
 * uses.
 */
export class Session {
  readonly #call: Call;
  #client: Client | undefined;
  /** Folder of the Terraform files. */
  readonly folder: string;
  readonly local: LocalPlatform | undefined;
  readonly #used: { credentials?: Credentials };

  constructor(call: Call, folder = '.', used = {}) {
    this.#call = call;
    this.#used = used;
    this.folder = folder;
    this.local = findLocalPlatform();
  }

  /** Session for another folder. */
  in(folder: string): Session {
    return new Session(this.#call, folder, this.#used);
  }

  /** Credentials of the last client, for messages. */
  get credentials(): Credentials | undefined {
    return this.#used.credentials;
  }

  get #block(): CloudBlock {
    return readCloudBlock(this.folder);
  }

  get address(): Address {
    return findAddress({ option: this.#call.text('host'), block: this.#block.host, local: this.local });
  }

  /** The platform at a host given as argument. @throws {CommandError} */
  at(host: string, from = '--host'): Address {
    trustOwnAuthority();
    return addressOf(host, from, { local: this.local });
  }

  /** @throws {CommandError} without a platform or a token */
  get client(): Client {
    if (!this.#client) {
      trustOwnAuthority();
      const { address } = this;
      const { token, from } = findToken(address, this.local);
      this.#used.credentials = { host: address.host, from };
      this.#client = new Client(address.url, token, userAgent());
    }
    return this.#client;
  }

  /** The organization from options, environment or folder; undefined for none. */
  get organizationName(): string | undefined {
    const local = this.local && this.address.url === this.local.url ? this.local.organization : undefined;
    return this.#call.text('organization') ?? this.#block.organization ?? local;
  }

  get workspaceName(): string | undefined {
    return this.#call.text('workspace') ?? this.#block.workspace;
  }

  /** Without a name, the user's only organization. @throws {CommandError} when the user has none or several */
  async organization(): Promise<string> {
    const name = this.organizationName;
    if (name) return name;
    const [first, ...more] = await this.client.list('/organizations');
    if (first && more.length === 0) return first.id;
    throw wrongUsage(
      first
        ? `No organization given. Give --organization (${[first, ...more].map(({ id }) => id).join(', ')}).`
        : `No organizations yet. Create one on the web page: ${program} open`,
    );
  }

  /** @throws {CommandError} without a name, or when the workspace does not exist */
  async workspace(): Promise<Resource> {
    const name = this.workspaceName;
    if (!name) {
      throw wrongUsage(
        `No workspace given. Give --workspace (and --organization), or run the command in a folder with a cloud block. List workspaces: ${program} workspaces list`,
      );
    }
    const organization = await this.organization();
    try {
      return await this.client.get(
        `/organizations/${encodeURIComponent(organization)}/workspaces/${encodeURIComponent(name)}`,
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      throw new CommandError(await this.#missing(organization, name), exit.notFound);
    }
  }

  /** The missing one of organization and workspace, with the remedy. */
  async #missing(organization: string, name: string): Promise<string> {
    try {
      const { data } = await this.client.some(`/organizations/${encodeURIComponent(organization)}/workspaces`, 1000);
      const names = data.map(({ attributes }) => attributes.name);
      const similar = nearest(name, names);
      const inIt = this.#call.text('organization') === undefined ? '' : ` --organization ${organization}`;
      return `Workspace ${organization}/${name} not found, or you don’t have access.${similar ? ` Did you mean ${similar}?` : ''} List workspaces: ${program} workspaces list${inIt}. Create it: ${program} workspaces create ${name}${inIt}`;
    } catch {
      return `Organization ${organization} not found, or you don’t have access. List organizations: ${program} organizations list`;
    }
  }

  /** The named run, or the workspace's current one. */
  async run(named: string | undefined): Promise<Resource> {
    if (named) return this.client.run(runId(named));
    const workspace = await this.workspace();
    const current = workspace.relationships?.['current-run']?.data as { id: string } | null | undefined;
    if (!current) {
      throw new CommandError(
        `No runs yet in workspace ${workspace.attributes.name}. Start one: ${program} runs start <folder> --workspace ${workspace.attributes.name}`,
        exit.notFound,
      );
    }
    return this.client.run(current.id);
  }
}

/** Accepts run URLs too, as the page and Terraform print them. */
const runId = (text: string): string => {
  const [id] = /run-[A-Za-z0-9]+/.exec(text) ?? [];
  if (id) return id;
  throw wrongUsage(`"${text}" is not a run ID: give one that begins with run-. List runs: ${program} runs list`);
};
