import type { Reporter, TestModule } from 'vitest/node';

/** Reports at the end that the page was not tested, why, and how many tests were skipped. */
export class SkippedPage implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const ofPage = modules.filter(({ project }) => project.name === 'browser');
    const reason = ofPage[0]?.project.getProvidedContext().browser;
    if (typeof reason !== 'string') return;
    const tests = ofPage.flatMap(({ children }) => [...children.allTests('skipped')]).length;
    console.error(
      `\nSKIPPED: ${tests} tests of the web page: ${reason}. ` +
        'Install Chromium, Chrome or Edge, or set STEPFORM_BROWSER to the path of one.\n',
    );
  }
}
