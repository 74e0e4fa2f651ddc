import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const report = process.env.TEST_REPORT

// Tests that need a database are `*.api.test.ts` and run on each, or `*.postgres.test.ts`; all others run once.
const onDatabase = (database: 'sqlite' | 'postgres') => ({
	extends: true as const,
	test: {
		name: database,
		include: ['packages/server/**/*.api.test.ts', ...(database === 'postgres' ? ['packages/server/**/*.postgres.test.ts'] : [])],
		provide: { database, template: '' },
		globalSetup: [join(import.meta.dirname, '../packages/server/test/databases.ts')],
	},
})

export default defineConfig({
	resolve: { conditions: ['remit-source'] },
	ssr: { resolve: { conditions: ['remit-source'] } },
	test: {
		exclude: ['**/node_modules/**', '**/dist/**'],
		pool: 'forks',
		// Every core: by default one is left over, which on two is half.
		maxWorkers: '100%',
		// CI sums the results up (tools/ci-summary.ts).
		reporters: report ? ['default', 'json'] : ['default'],
		...(report && { outputFile: { json: report } }),
		testTimeout: 30_000,
		hookTimeout: 60_000,
		projects: [
			{
				extends: true,
				test: {
					name: 'rules',
					include: ['packages/**/*.test.ts', 'tools/**/*.test.ts'],
					exclude: ['**/node_modules/**', '**/dist/**', '**/*.{api,postgres}.test.ts'],
				},
			},
			onDatabase('sqlite'),
			onDatabase('postgres'),
		],
	},
})
