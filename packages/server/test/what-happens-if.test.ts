import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/what-happens-if.md'), 'utf8')
const [, ...sections] = page.split(/^## /m)
const tests = globSync('packages/{server,web}/{src,test}/**/*.test.ts', { cwd: root })
const namesIn = (text: string) => [...text.matchAll(/`([^` ]+\.test\.ts)`/g)].map(([, name = '']) => name)

describe('docs/what-happens-if.md', () => {
	it.each(sections.map((text) => [text.split('\n', 1)[0], text] as const))('names a test of "%s"', (_, text) => {
		expect(namesIn(text).length).toBeGreaterThan(0)
	})

	it('names each test by the end of one path', () => {
		const found = namesIn(page).map((name) => [name, tests.filter((path) => path.endsWith(`/${name}`)).length])
		expect(found.filter(([, count]) => count !== 1)).toEqual([])
	})
})
