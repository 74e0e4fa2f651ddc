// That the answers and events of a server under test are looked through for secrets (leaks.ts).
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { startTestServer } from './harness.ts'
import { secret, takeLeaks, watchAnswers } from './leaks.ts'

it('the head and the body of each answer are looked through, and those of other servers are not', async () => {
	const server = createServer((req, res) => {
		if (req.url === '/head') res.writeHead(303, { location: `/?key=${secret()}` }).end()
		else if (req.url === '/parts') res.write(secret(), () => res.end(secret()))
		else res.end('nothing')
	})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
	const leaksOf = async (path: string) => {
		await (await fetch(url + path, { redirect: 'manual' })).text()
		return takeLeaks().length
	}
	expect(await leaksOf('/head')).toBe(0)
	const unwatch = watchAnswers(url)
	expect([await leaksOf('/head'), await leaksOf('/parts'), await leaksOf('/')]).toEqual([1, 2, 0])
	unwatch()
	await new Promise((resolve) => server.close(resolve))
})

it('a secret in a record is seen in its answer and in its event', async () => {
	const server = await startTestServer()
	const { id } = await server.remit.companies.create({ name: `Client of ${secret()}` })
	await server.remit.companies.get(id)
	expect(takeLeaks().map((leak) => leak.split(' has ')[0])).toEqual([`GET /api/companies/${id}`])
	await server.close()
	expect(takeLeaks().map((leak) => leak.split(' has ')[0])).toEqual(['the event company.created'])
})
