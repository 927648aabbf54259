import type { FunctionSettings } from '#infra/local/aws/lambda/function-settings.ts';
import type { Usage } from '#infra/local/aws/lambda/usage.ts';
import type { Logs } from '#infra/local/aws/logs/logs.ts';
import type { Endpoint } from '#infra/local/host/endpoint.ts';
import type { Faults } from '#infra/local/host/faults.ts';
import type { Folder } from '#infra/local/host/folder.ts';
import type { Home } from '#infra/local/host/home.ts';
import type { Stack, Template } from '#infra/local/host/template.ts';

/** A deployable application: a template, and the code of its functions and containers. */
export interface Application {
  template: Template;
  /** Bundle of a function by logical id; undefined for functions that only AWS needs. */
  bundleOf(logicalId: string): string | undefined;
  /** Folder for V8's compiled code of the bundles; without it each start compiles them. */
  compiled?: string;
  /** The module of the runner program that runs a task. */
  runner: string;
}

export interface Site {
  application: Application;
  awsEndpointUrl: string;
  endpoint: Endpoint;
  faults: Faults;
  folder: Folder;
  home: Home;
  log(line: string): void;
  logs: Logs;
  functionSettings: FunctionSettings;
  /** URL of the mail server; without one, e-mails become files in the data folder. */
  smtp: string;
  runnerEnvironment: Record<string, string>;
  stack: Stack;
  usage: Usage;
}
