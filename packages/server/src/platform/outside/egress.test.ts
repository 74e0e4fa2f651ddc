import { createServer, type RequestListener } from 'node:http'
import {
	type AddressInfo,
	connect,
	createServer as createTcpServer,
	getDefaultAutoSelectFamily,
	setDefaultAutoSelectFamily,
} from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { request } from 'undici'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { type Egress, openEgress, UnresolvableUrl, UnsafeUrl } from './egress.ts'
import { type Lookup, ResolverUnavailable } from './resolver.ts'

const closers: (() => unknown)[] = []
const closeAll = async () => {
	for (const close of closers.splice(0).reverse()) await close()
}
afterEach(closeAll)

// Real addresses of the internet, because ranges for documentation are not public. No test calls them.
const [publicV4, publicV6] = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']

const names: Readonly<Record<string, readonly string[]>> = {
	'hooks.example': [publicV4, publicV6],
	'hooks.example.': [publicV4],
	localhost: ['127.0.0.1', '::1'],
	'localhost.': ['127.0.0.1'],
	'app.localhost': ['::1'],
	'printer.local': ['192.168.1.9'],
	'nas.home.arpa': ['fd12::9'],
	'metadata.google.internal': ['169.254.169.254'],
	'metadata.google.internal.': ['169.254.169.254'],
	'instance-data': ['169.254.169.254'],
	'redis.default.svc': ['10.96.0.7'],
	'loopback.example': ['127.0.0.1'],
	'xn--bcher-kva.example': ['127.0.0.1'],
	'zero.example': ['0.0.0.0'],
	'one-private.example': ['127.0.0.1', publicV4],
	'last-private.example': [publicV4, publicV6, '10.0.0.1'],
	'private-v6.example': ['::1', publicV4],
	'mapped.example': ['::ffff:127.0.0.1'],
	'mapped-public.example': [`::ffff:${publicV4}`],
	'compatible.example': ['::127.0.0.1'],
	'nat64.example': ['64:ff9b::7f00:1', publicV4],
	'6to4.example': ['2002:7f00:1::'],
	'link-local.example': ['fe80::1%lo'],
	'zone.example': [`${publicV6}%lo`],
	'odd.example': ['0177.0.0.1'],
	'odder.example': ['localhost'],
}

const answer = (...addresses: readonly string[]) =>
	addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }))

const lookup: Lookup = async (name) => {
	const addresses = names[name]
	if (!addresses) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
	return answer(...addresses)
}

function open(allowCidrs: readonly string[] = [], resolver: Lookup = lookup): Egress {
	const egress = openEgress({ allowCidrs, lookup: resolver })
	closers.push(() => egress.close())
	return egress
}

async function dial(egress: Egress, url: string) {
	const { statusCode, headers, body } = await request(url, { method: 'POST', body: '{}', dispatcher: await egress.dispatcher() })
	await body.dump()
	return { statusCode, headers }
}

/** A server on this machine that counts the sockets that reach it. */
async function listen(
	address: string,
	{ port = 0, answer: listener = (_, res) => res.writeHead(204).end() }: { port?: number; answer?: RequestListener } = {},
) {
	let sockets = 0
	const server = createServer(listener).on('connection', () => sockets++)
	await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, address, resolve))
	const { port: taken } = server.address() as AddressInfo
	let knocks = 0
	return {
		port: taken,
		/** The number of sockets so far. Dials one more first: when it arrives, all sockets dialled earlier have arrived. */
		async arrivals() {
			knocks++
			const arrived = new Promise<void>((resolve) => server.once('connection', () => resolve()))
			const knock = connect(taken, address)
			await arrived
			knock.destroy()
			return sockets - knocks
		},
		close: () =>
			new Promise<void>((resolve) => {
				server.close(() => resolve())
				server.closeAllConnections()
			}),
	}
}

const rows = (text: string) => text.trim().split(/\s+/)

// The guard refuses each when it is saved and when it is dialled. At PORT a server listens on 127.0.0.1 and ::1.
const loopback = [
	...rows(`
		http://127.0.0.1:PORT/latest/meta-data/ http://127.0.0.1:PORT?@hooks.example/ http://127.0.0.1:PORT#@hooks.example/
		http://@127.0.0.1:PORT/ http:127.0.0.1:PORT http://127.0.0.1.:PORT/ http://127.1:PORT/ http://127.0.1:PORT/
		http://2130706433:PORT/ http://2130706433.:PORT/ http://017700000001:PORT/ http://0x7f000001:PORT/ http://0X7F.1:PORT/
		http://0177.0.0.1:PORT/ http://00000177.0.0.1:PORT/ http://0x7f.0.0.1:PORT/ http://0177.0x0.0.1:PORT/
		http://0x7f.0.1:PORT/ http://127.0.0.1:PORT/ http://127。0。0。1:PORT/ http://①②⑦.⓪.⓪.①:PORT/ http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:PORT/
		http://%31%32%37.0.0.1:PORT/`),
	'http://127.0.0.1:PORT\\@hooks.example/',
	'http:\\\\127.0.0.1:PORT\\',
	' HTTP:////127.0.0.1:PORT\n',
	'http://127.0\u00ad.0.1:PORT/',
	'http://127.0.\t0.1:PORT/',
]

const literals = rows(`
	https://127.0.0.1:PORT/ http://127.0.0.1:22/ http://127.255.255.254:PORT/ http://0.0.0.0:PORT/ http://0:PORT/
	http://0x:PORT/ http://0.1.2.3/ http://10.0.0.1/ http://167772161/ http://172.16.0.1/ http://172.31.255.255/
	https://192.168.0.1/ http://0xc0a80001/ http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/
	http://0251.0376.0251.0376/ http://169.254.43518/ http://169.254.169.254/ http://100.64.0.1/ http://100.100.100.200/
	http://168.63.129.16/ http://192.0.0.192/ http://192.0.2.1/ http://198.18.0.1/ http://198.51.100.1/ http://203.0.113.1/
	http://224.0.0.1/ http://239.255.255.250:1900/ http://240.0.0.1/ http://255.255.255.255/ http://[::1]:PORT/
	https://[::1]:PORT/ http://[::1]:6379/ http://[0:0:0:0:0:0:0:1]:PORT/ http://[::0.0.0.1]:PORT/ http://[::]:PORT/
	http://[::ffff:127.0.0.1]:PORT/ http://[::ffff:7f00:1]:PORT/ http://[0:0:0:0:0:FFFF:127.0.0.1]:PORT/
	http://[::ffff:0.0.0.0]:PORT/ http://[::ffff:169.254.169.254]/ http://[::ffff:${publicV4}]/ http://[::127.0.0.1]:PORT/
	http://[::7f00:1]:PORT/ http://[::ffff:0:127.0.0.1]:PORT/ http://[64:ff9b::127.0.0.1]:PORT/ http://[64:ff9b::a9fe:a9fe]/
	http://[64:ff9b::${publicV4}]/ http://[64:ff9b:1::a9fe:a9fe]/ http://[2002:7f00:1::]:PORT/ http://[2002:a9fe:a9fe::1]/
	http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:PORT/ http://[fe80::1]:PORT/ http://[fec0::1]/ http://[fc00::1]/
	http://[fd00:ec2::254]/latest/meta-data/ http://[ff02::1]/ http://[2001:db8::1]/ http://[3fff::1]/ http://[2001:2::1]/
	http://[2001:10::1]/ http://[2001:20::1]/ http://[100::1]/ http://[5f00::1]/ http://[4000::1]/
	blob:http://127.0.0.1:PORT/0`)

const privateNames = [
	...Object.keys(names)
		.filter((name) => !name.startsWith('hooks.'))
		.map((name) => `http://${name}:PORT/`),
	'https://loopback.example:PORT/',
	'http://LocalHost:PORT/',
	'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/',
	'http://localhost:PORT/',
	'http://%6c%6f%63alhost:PORT/',
	'http://loopback。example:PORT/',
	'http://bücher.example:PORT/',
]

const unreadable = [
	...rows(`
	hooks.example //hooks.example/ http:// https:/// http://256.256.256.256/ http://4294967296/ http://1.2.3.4.5/
	http://08.0.0.1/ http://127.0.0.1%00.hooks.example/ http://[fe80::1%25lo]/ http://[::1%lo]/ http://[::1/ http://::1/
	http://hooks.example:65536/`),
	'',
	'http://hooks example/',
]

const otherSchemes = rows(`
	ftp://hooks.example/ file:///etc/passwd file://hooks.example/etc/passwd gopher://127.0.0.1:6379/_INFO
	dict://127.0.0.1:11211/stat ldap://hooks.example/ ws://hooks.example/ unix:/var/run/docker.sock
	http+unix://%2Fvar%2Frun%2Fdocker.sock/ data:text/plain,hello javascript:alert(1) hooks.example:443/`)

const withUser = [
	'http://user@hooks.example/',
	'https://user:password@hooks.example/',
	'https://:password@hooks.example/',
	'https://hooks.example@127.0.0.1/',
	'https://hooks.example:443@127.0.0.1/',
	'http://127.0.0.1%2F@hooks.example/',
	'http://1.1.1.1 &@hooks.example#@127.0.0.1/',
]

const v4 = await listen('127.0.0.1')
const port = String(v4.port)
/** Some containers have no IPv6. */
const v6 = await listen('::1', { port: v4.port }).catch(() => undefined)
const targets = v6 ? [v4, v6] : [v4]
afterAll(async () => {
	for (const target of targets) await target.close()
})

/** The number of sockets that reach this machine during the work. */
async function socketsDuring(work: () => Promise<unknown>): Promise<number> {
	const count = async () => (await Promise.all(targets.map((target) => target.arrivals()))).reduce((a, b) => a + b, 0)
	const before = await count()
	await work()
	return (await count()) - before
}

describe('the guard refuses', () => {
	it.each([...loopback, ...literals, ...privateNames])('%j when it is saved, and when it is dialled', async (template) => {
		const [egress, url] = [open(), template.replace('PORT', port)]
		await expect(egress.check(url, 'org_1')).rejects.toThrow(UnsafeUrl)
		const sockets = await socketsDuring(() => expect(dial(egress, url)).rejects.toThrow(UnsafeUrl))
		expect(sockets).toBe(0)
	})

	it.each([...unreadable, ...otherSchemes])('%j when it is saved; it cannot be dialled', async (url) => {
		const egress = open(['0.0.0.0/0', '::/0'], async () => [])
		await expect(egress.check(url, 'org_1')).rejects.toThrow(UnsafeUrl)
		await expect(dial(egress, url)).rejects.toThrow(/url/i)
	})

	it.each(withUser)('%j when it is saved, as it has a user or a password', async (url) => {
		await expect(open(['0.0.0.0/0']).check(url, 'org_1')).rejects.toThrow('The URL must not contain a user or a password.')
	})

	it('a name that means another address by the time it is dialled', async () => {
		const answers = [answer(publicV4), answer('127.0.0.1')]
		const egress = open([], async () => answers.shift() ?? [])
		const url = `http://rebinding.example:${port}/`
		await egress.check(url, 'org_1')
		expect(await socketsDuring(() => expect(dial(egress, url)).rejects.toThrow(UnsafeUrl))).toBe(0)
		expect(answers).toEqual([])
	})

	it('a name without an address, and says so', async () => {
		for (const resolver of [lookup, async () => []]) {
			const egress = open([], resolver)
			await expect(egress.check('https://unknown.example/', 'org_1')).rejects.toThrow(UnresolvableUrl)
			await expect(dial(egress, 'https://unknown.example/')).rejects.toThrow(UnresolvableUrl)
		}
	})

	it('a name that no name server spoke about, without a word about the name', async () => {
		const resolver = () => Promise.reject(new ResolverUnavailable('No name server answered in time.'))
		const egress = open([], resolver)
		await expect(egress.check('https://slow.example/', 'org_1')).rejects.toThrow(ResolverUnavailable)
		await expect(dial(egress, 'https://slow.example/')).rejects.toThrow(ResolverUnavailable)
	})

	it('with a message that names the host and the setting, and never the address', async () => {
		const rejected = open().check('https://metadata.google.internal/', 'org_1')
		await expect(rejected).rejects.toThrow(/^The host metadata\.google\.internal is not .*EGRESS_ALLOW_CIDRS/)
		await expect(rejected).rejects.not.toThrow(/169\.254/)
	})
})

describe('the guard lets pass', () => {
	it.each([
		'https://hooks.example/remit?tenant=1#top',
		'http://HOOKS.example.:8080/',
		`http://${publicV4}/`,
		`https://[${publicV6}]:8443/`,
		'https://1.1.1.1/',
	])('%s when it is saved', async (url) => {
		await expect(open().check(url, 'org_1')).resolves.toBeUndefined()
	})

	it.each(loopback)('%j where its range is allowed', async (template) => {
		const [egress, url] = [open(['127.0.0.0/8']), template.replace('PORT', port)]
		await egress.check(url, 'org_1')
		expect(await socketsDuring(async () => expect(await dial(egress, url)).toMatchObject({ statusCode: 204 }))).toBe(1)
	})

	it.each([
		['http://loopback.example:PORT/', '127.0.0.1/32'],
		['http://one-private.example:PORT/', '127.0.0.1/32'],
		...(v6
			? [
					['http://[::1]:PORT/', '::1/128'],
					['http://app.localhost:PORT/', '::1/128'],
				]
			: []),
	])('%s where %s is allowed', async (template, range) => {
		const [egress, url] = [open([range]), template.replace('PORT', port)]
		await egress.check(url, 'org_1')
		expect(await socketsDuring(async () => expect(await dial(egress, url)).toMatchObject({ statusCode: 204 }))).toBe(1)
	})

	it('a name of this machine, with the system’s own resolver', async () => {
		const egress = openEgress({ allowCidrs: ['127.0.0.0/8', '::1/128'] })
		closers.push(() => egress.close())
		expect(await dial(egress, `http://localhost:${port}/`)).toMatchObject({ statusCode: 204 })
		await expect(openEgress({ allowCidrs: [] }).check('http://localhost/', 'org_1')).rejects.toThrow(UnsafeUrl)
	})
})

describe('a dial', () => {
	it.each([true, false])('goes to the address that was judged, looked up once (several addresses tried: %s)', async (several) => {
		const before = getDefaultAutoSelectFamily()
		setDefaultAutoSelectFamily(several)
		closers.push(() => setDefaultAutoSelectFamily(before))
		// With a second look-up the dial would go to an address where nothing listens.
		const answers = [answer('127.0.0.1'), answer('127.0.0.3')]
		const asked: string[] = []
		const egress = open(['127.0.0.0/8'], async (name) => {
			asked.push(name)
			return answers.shift() ?? []
		})
		expect(await dial(egress, `http://once.example:${port}/`)).toMatchObject({ statusCode: 204 })
		expect(asked).toEqual(['once.example'])
	})

	it('takes the next address when the first does not answer', async () => {
		const only = await listen('127.0.0.1')
		closers.push(only.close)
		const egress = open(['127.0.0.0/8', '::1/128'], async () => answer('::1', '127.0.0.1'))
		expect(await dial(egress, `http://both.example:${only.port}/`)).toMatchObject({ statusCode: 204 })
	})

	it('keeps its socket for the next call, which is not looked up again', async () => {
		const lookups = vi.fn(async () => answer('127.0.0.1'))
		const egress = open(['127.0.0.1/32'], lookups)
		const sockets = await socketsDuring(async () => {
			for (let n = 0; n < 3; n++) {
				await dial(egress, `http://kept.example:${port}/${n}`)
				// undici gives a socket back one turn of the event loop after the answer.
				await setImmediate()
			}
		})
		expect(sockets).toBe(1)
		expect(lookups).toHaveBeenCalledTimes(1)
	})

	it('waits for no other dial to the same origin, since undici ignores abort signals while it waits', async () => {
		const [all, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
		let asked = 0
		const slow = await listen('127.0.0.1', {
			answer: (_, res) => {
				if (++asked === 200) all.resolve()
				gate.promise.then(() => res.writeHead(204).end())
			},
		})
		closers.push(slow.close)
		const egress = open(['127.0.0.1/32'])
		const calls = Array.from({ length: 200 }, () => dial(egress, `http://127.0.0.1:${slow.port}/`))
		await all.promise
		gate.resolve()
		for (const { statusCode } of await Promise.all(calls)) expect(statusCode).toBe(204)
	})

	it('over TLS offers HTTP/1.1 and the name of the host, at the address that was judged', async () => {
		const hello = Promise.withResolvers<Buffer>()
		const server = createTcpServer((socket) =>
			socket
				.on('error', () => {})
				.once('data', (bytes) => {
					hello.resolve(bytes)
					socket.destroy()
				}),
		)
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
		closers.push(() => server.close())
		const egress = open(['127.0.0.1/32'])
		const call = dial(egress, `https://loopback.example:${(server.address() as AddressInfo).port}/`)
		await expect(call).rejects.toThrow(/socket disconnected|ECONNRESET/)
		const text = (await hello.promise).toString('latin1')
		expect(text).toContain('loopback.example')
		expect(text).toContain('http/1.1')
		expect(text).not.toContain('\x02h2')
	})

	it('answered with a redirect returns it, and calls nobody else', async () => {
		const location = `http://127.0.0.1:${port}/latest/meta-data/`
		const redirecting = await listen('127.0.0.1', { answer: (_, res) => res.writeHead(302, { location }).end() })
		closers.push(redirecting.close)
		// The range of the redirect's target is allowed, too.
		const egress = open(['127.0.0.0/8'])
		const sockets = await socketsDuring(async () => {
			const { statusCode, headers } = await dial(egress, `http://127.0.0.1:${redirecting.port}/`)
			expect([statusCode, headers.location]).toEqual([302, location])
		})
		expect(sockets).toBe(0)
	})

	it('that was refused does not affect the next dial', async () => {
		const answers = [answer('10.0.0.1'), answer('127.0.0.1'), answer('10.0.0.1')]
		const egress = open(['127.0.0.1/32'], async () => answers.shift() ?? [])
		const once = async () => request(`http://changing.example:${port}/`, { dispatcher: await egress.dispatcher(), reset: true })
		await expect(once()).rejects.toThrow(UnsafeUrl)
		await (await once()).body.dump()
		await expect(once()).rejects.toThrow(UnsafeUrl)
	})
})
