import { defineConfig } from 'vitest/config'

export default defineConfig({
	resolve: { conditions: ['remit-source'] },
	ssr: { resolve: { conditions: ['remit-source'] } },
	test: {
		include: ['packages/**/*.test.ts', 'tools/**/*.test.ts'],
		exclude: ['**/node_modules/**', '**/dist/**'],
		pool: 'forks',
		testTimeout: 30_000,
		hookTimeout: 60_000,
	},
})
