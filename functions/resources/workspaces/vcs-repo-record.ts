/** The repository that a workspace takes its configuration from (HCP API: workspaces, vcs-repo). */
export interface VcsRepo {
  identifier: string;
  /** As given; empty for the default branch. */
  branch: string;
  ingressSubmodules: boolean;
  tagsRegex: string | null;
  /** One of the two: the connection that it is reached by. */
  oauthTokenId?: string;
  installationId?: string;
  /** API name of the provider. */
  serviceProvider: string;
  clientName: string | null;
  httpUrl: string;
  /** Null where the GitHub App's webhook tells of it. */
  webhookUrl: string | null;
  /** The platform's record of it (version-control/repositories.ts). */
  repository: string;
  /** Of the OAuth client, or of the installation. */
  clientId: string;
}

/** Id of the OAuth token, or of the installation of the GitHub App. */
export const connectionOf = ({
  oauthTokenId,
  installationId,
}: Pick<VcsRepo, 'oauthTokenId' | 'installationId'>): string => installationId ?? oauthTokenId ?? '';
