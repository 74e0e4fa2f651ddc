import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const inTests = (file: string) => join(import.meta.dirname, '../packages/server/test', file)

const report = process.env.TEST_REPORT

// Hundreds of processes that tests start load the same files.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** On a clean clone Vitest knows no times and begins with the largest files, so this one would end the run beside an idle worker. */
const longest = /walk\.e2e\.test\.ts$/

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => (longest.test(moduleId) ? 0 : 1)
		return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
	}
}

/**
 * The files of each project, by their names (docs/decisions/tests.md): those of a run without a mode, and those that `--mode rest`
 * has. `--mode all` has both.
 */
const files = {
	rules: { fast: ['{packages,tools}/**/*.test.ts'], rest: [] },
	sqlite: { fast: ['packages/server/**/*.{api,db,sqlite}.test.ts'], rest: ['packages/server/**/*.{api,db,sqlite}.e2e.test.ts'] },
	postgres: {
		fast: ['packages/server/**/*.{db,postgres}.test.ts'],
		rest: ['packages/server/**/*.api.test.ts', 'packages/server/**/*.{api,db,postgres}.e2e.test.ts'],
	},
	smoke: { fast: ['packages/server/test/smoke/*.test.ts'], rest: [] },
	e2e: { fast: [], rest: ['{packages,tools}/**/*.e2e.test.ts'] },
	web: { fast: [], rest: ['packages/web/test/*.e2e.test.ts'] },
}
type Project = keyof typeof files

const others: readonly string[] = ['**/node_modules/**', '**/dist/**']
const onServer = '**/*.{api,db,sqlite,postgres}.{test,e2e.test}.ts'
const notOf: Partial<Record<Project, readonly string[]>> = {
	rules: [onServer, '**/*.e2e.test.ts', 'packages/server/test/smoke/**'],
	e2e: [onServer, 'packages/web/**'],
}

function filesOf(name: Project, mode: string) {
	const { fast, rest } = files[name]
	const include = mode === 'all' ? [...fast, ...rest] : mode === 'rest' ? rest : fast
	return { name, include, exclude: [...others, ...(notOf[name] ?? [])] }
}

const onDatabase = (database: 'sqlite' | 'postgres', mode: string) => ({
	extends: true as const,
	test: {
		...filesOf(database, mode),
		setupFiles: [inTests(database === 'sqlite' ? 'watch-replans.ts' : 'watch-organizations.ts')],
		provide: { database, template: '' },
		// Of those alone that are concurrent, as they wait for what takes its time.
		maxConcurrency: 50,
		// A worker keeps the server's modules from one file to the next: to load and compile them anew took 2 of 5 CPU seconds.
		isolate: false,
		globalSetup: [inTests('databases.ts')],
	},
})

export default defineConfig(({ mode }) => ({
	resolve: { conditions: ['remit-source'] },
	ssr: { resolve: { conditions: ['remit-source'] } },
	test: {
		exclude: [...others],
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
			// A process and a new load of the modules for each file took a quarter of the CPU of the workers.
			{ extends: true, test: { ...filesOf('rules', mode), isolate: false } },
			onDatabase('sqlite', mode),
			onDatabase('postgres', mode),
			{
				extends: true,
				// A start of the built server takes seconds, and twenty beside two other processes.
				test: {
					...filesOf('smoke', mode),
					testTimeout: 120_000,
					globalSetup: [join(import.meta.dirname, 'test/build.setup.ts')],
				},
			},
			{ extends: true, test: { ...filesOf('e2e', mode), isolate: false } },
			{
				extends: true,
				test: {
					...filesOf('web', mode),
					// Twice what the tests give one wait of a page.
					testTimeout: 40_000,
					globalSetup: [join(import.meta.dirname, '../packages/web/test/build.setup.ts')],
				},
			},
		],
	},
}))
