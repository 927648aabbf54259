/** The repository of a workspace's configuration (HCP API: workspaces, vcs-repo). */
export interface VcsRepo {
  identifier: string;
  /** As entered; empty for the default branch. */
  branch: string;
  ingressSubmodules: boolean;
  tagsRegex: string | null;
  /** Connection to the repository: either this or the installation. */
  oauthTokenId?: string;
  installationId?: string;
  /** API name of the provider. */
  serviceProvider: string;
  clientName: string | null;
  httpUrl: string;
  /** Null with a GitHub App, which has a webhook of its own. */
  webhookUrl: string | null;
  /** Id of the repository's record (version-control/repositories.ts). */
  repository: string;
  /** Id of the OAuth client or of the installation. */
  clientId: string;
}

/** Id of the OAuth token, or of the GitHub App's installation. */
export const connectionOf = ({
  oauthTokenId,
  installationId,
}: Pick<VcsRepo, 'oauthTokenId' | 'installationId'>): string => installationId ?? oauthTokenId ?? '';
