import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const inTests = (file: string) => join(import.meta.dirname, '../packages/server/test', file)

const report = process.env.TEST_REPORT

// Hundreds of processes that tests start load the same files.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** On a clean clone Vitest knows no times and begins with the largest files, so this one would end the run beside an idle worker. */
const longest = /walk\.browser\.test\.ts$/

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => (longest.test(moduleId) ? 0 : 1)
		return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
	}
}

// `*.api.test.ts` need a database and run on both, `*.sqlite.test.ts` and `*.postgres.test.ts` run on that one alone, and all others
// run once.
const onDatabase = (database: 'sqlite' | 'postgres') => ({
	extends: true as const,
	test: {
		name: database,
		setupFiles: [inTests(database === 'sqlite' ? 'watch-replans.ts' : 'watch-organizations.ts')],
		include: [`packages/server/**/*.{api,${database}}.test.ts`],
		provide: { database, template: '' },
		// Of those alone that are concurrent, as they wait for what takes its time.
		maxConcurrency: 50,
		// A worker keeps the server's modules from one file to the next: to load and compile them anew took 2 of 5 CPU seconds.
		isolate: false,
		globalSetup: [inTests('databases.ts')],
	},
})

export default defineConfig({
	resolve: { conditions: ['remit-source'] },
	ssr: { resolve: { conditions: ['remit-source'] } },
	test: {
		exclude: ['**/node_modules/**', '**/dist/**'],
		setupFiles: [inTests('watch-cost.ts'), inTests('watch-leaks.ts')],
		globalSetup: [join(import.meta.dirname, 'bundle-command.ts')],
		pool: 'forks',
		// Vitest leaves one core free by default, which is half of two. Three processes on two cores are a tenth faster, and tests
		// fail by chance.
		maxWorkers: '100%',
		// One set-up file after the other, so that the first has the last word.
		sequence: { sequencer: LongestFirst, setupFiles: 'list' },
		// CI adds up the JSON reports (tools/ci-summary.ts).
		reporters: ['default', ...(report ? ['json'] : []), join(import.meta.dirname, 'test/reporter.ts')],
		...(report && { outputFile: { json: report } }),
		testTimeout: 30_000,
		// The default of a second is not always enough beside two other processes.
		expect: { poll: { timeout: 10_000 } },
		hookTimeout: 60_000,
		projects: [
			{
				extends: true,
				test: {
					name: 'rules',
					// A process and a new load of the modules for each file took a quarter of the CPU of the workers.
					isolate: false,
					include: ['packages/**/*.test.ts', 'tools/**/*.test.ts'],
					exclude: ['**/node_modules/**', '**/dist/**', '**/*.{api,postgres,sqlite}.test.ts', 'packages/web/test/**'],
				},
			},
			{
				extends: true,
				test: {
					name: 'web',
					// Twice what the tests give one wait of a page.
					testTimeout: 40_000,
					include: ['packages/web/test/**/*.test.ts'],
					globalSetup: [join(import.meta.dirname, '../packages/web/test/build.setup.ts')],
				},
			},
			onDatabase('sqlite'),
			onDatabase('postgres'),
		],
	},
})
