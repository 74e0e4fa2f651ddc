import optimizeLocales from '@react-aria/optimize-locales-plugin'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

// `pnpm --filter @remit/web exec vite` serves the pages while they are written, and passes the rest to a server on port 3000.
const server = process.env.REMIT_BASE_URL ?? 'http://127.0.0.1:3000'

/** By themselves the parts that pages share would be up to thirty files of a visit, most below 1 KB, and each costs a turn in the line. */
const groups = [
	{ name: 'main', tags: ['$initial' as const], priority: 4 },
	{
		name: 'basics',
		test: /src\/(format|api)\/|lucide-react|src\/ui\/(badge|card|tabs|tile|rows|search-field|native-select|on-first-use)\.tsx?$|useInfiniteQuery/,
		minShareCount: 3,
		priority: 3,
	},
	{ name: 'controls', test: /src\/ui\/(button|toast|field|text-area|date-field)\.tsx?$/, priority: 2 },
	{ name: 'menus', test: /src\/ui\/menu\.tsx$/, priority: 1 },
]

export default defineConfig({
	base: '/app/',
	plugins: [react(), { ...optimizeLocales.vite({ locales: ['en-US'] }), enforce: 'pre' }],
	resolve: { conditions: ['remit-source', ...defaultClientConditions] },
	build: {
		target: 'es2023',
		manifest: true,
		// Of the packages whose code is in the files; `/app/third-party.md`.
		license: { fileName: 'third-party.md' },
		// A page's scripts are found by those that import them: the names of all, for every page, would weigh more than the wait saves. The
		// first page of a visit names its own (build.ts).
		modulePreload: { polyfill: false, resolveDependencies: (_, files) => files.filter((file) => file.endsWith('.css')) },
		// Inlined files would need `data:` in the policy.
		assetsInlineLimit: 0,
		// Up to ten files held the first paint back, each for a round trip; all of them together are 9 KB.
		cssCodeSplit: false,
		rolldownOptions: { output: { codeSplitting: { groups } } },
		reportCompressedSize: false,
	},
	server: { proxy: { '/api': server, '/connections': server, '/mappings': server, '/syncs': server, '/webhooks': server } },
})
