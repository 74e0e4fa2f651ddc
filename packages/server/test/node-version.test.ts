// Which Node the server needs: what the package and the documents say is what it checks when it starts.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { missingNode, neededNode } from '../src/node-version.ts'

const root = resolve(import.meta.dirname, '../../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

it.each(['v20.20.2', 'v22.23.3', 'v23.11.1', 'v24.6.0'])('says on Node %s which one it needs', (version) => {
	expect(missingNode(version)).toBe(`Remit needs Node 24.7 or newer and this is ${version}.`)
})

it.each(['v24.7.0', 'v24.21.0', 'v25.0.0', 'v26.10.0'])('runs on Node %s', (version) => {
	expect(missingNode(version)).toBeUndefined()
})

it('is what the package asks for, and what the documents say', () => {
	expect(JSON.parse(read('packages/server/package.json')).engines).toEqual({ node: `>=${neededNode}` })
	for (const file of ['packages/server/README.md', 'docs/guides/testing.md', 'docs/guides/production.md'])
		expect([file, ...read(file).matchAll(/Node (\d+\.\d+) or later/g)].map((found) => found[1])).toContain(neededNode)
})
