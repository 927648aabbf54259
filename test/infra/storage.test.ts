import { Template } from 'aws-cdk-lib/assertions';
import { App, Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { readSettings } from '#infra/settings/settings.ts';
import { Storage } from '#infra/stack/storage.ts';

const rules = (context: Record<string, unknown>) => {
  const stack = new Stack(new App(), 'Test');
  new Storage(stack, 'Storage', readSettings(context));
  const [bucket] = Object.values(Template.fromStack(stack).findResources('AWS::S3::Bucket'));
  const all: { Prefix?: string; ExpirationInDays?: number }[] = bucket?.Properties.LifecycleConfiguration.Rules;
  return all.filter((rule) => rule.ExpirationInDays).map((rule) => `${rule.Prefix} ${rule.ExpirationInDays}`);
};

describe('the bucket', () => {
  it('expires only uploads and shared providers by default', () => {
    expect(rules({})).toEqual(['uploads/ 7', 'providers/ 30']);
  });

  it('expires configurations and run artifacts after the configured days, never states', () => {
    expect(rules({ configurationRetentionDays: 400, runRetentionDays: '365' })).toEqual([
      'uploads/ 7',
      'providers/ 30',
      'configurations/ 400',
      'runs/ 365',
      'inputs/ 365',
      'outcomes/ 365',
    ]);
  });
});
