import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import PostalMime, { type Email } from 'postal-mime'
import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import {
	allHeaders,
	closers,
	delivered,
	headerNames,
	mail,
	mailer,
	pdf,
	rejected,
	replying,
	smtpServer,
	tcpServer,
} from '../../../../test/outgoing-mail.ts'
import { openMailer } from './mail.ts'

describe('a mail', () => {
	it('arrives as it was written, from our address under the names of the sender and of its operator', async () => {
		const { from, to, email } = await delivered({})
		expect({ from, to }).toEqual({ from: 'invoices@remit.example', to: ['ada@example.com'] })
		expect(email).toMatchObject({
			from: { name: 'Northlight Studio via remit.example', address: 'invoices@remit.example' },
			to: [{ name: '', address: 'ada@example.com' }],
			replyTo: [{ name: '', address: 'hello@northlight.example' }],
			subject: 'Invoice INV-0007 from Northlight Studio',
			attachments: [{ filename: 'INV-0007.pdf', mimeType: 'application/pdf', disposition: 'attachment' }],
		})
		expect(email.text?.trim()).toBe('Amount due: €1,606.50')
		expect(email.html?.trim()).toBe('<p>Amount due: €1,606.50</p>')
		expect(Buffer.from(email.attachments[0]?.content as ArrayBuffer).equals(pdf)).toBe(true)
		expect(headerNames(email)).toEqual(allHeaders)
	})

	it('has no address for answers when the sender has none', async () => {
		const { email } = await delivered({ replyTo: null })
		expect(headerNames(email)).toEqual(allHeaders.filter((name) => name !== 'Reply-To'))
	})

	it('keeps a view into a larger buffer to its own bytes', async () => {
		const { email } = await delivered({
			attachments: [
				{ filename: 'a.pdf', contentType: 'application/pdf', content: new Uint8Array(pdf.buffer, pdf.byteOffset + 10, 20) },
			],
		})
		expect(Buffer.from(email.attachments[0]?.content as ArrayBuffer)).toEqual(pdf.subarray(10, 30))
	})

	it('may be in any script, with quotes in names', async () => {
		const written = {
			senderName: 'Müller, "Söhne" & 株式会社 <GmbH>',
			subject: `فاتورة ${'株式会社 '.repeat(30)}🧾 ende`,
			text: 'شكرا 👍',
			html: '<p>شكرا 👍</p>',
			attachments: [{ filename: 'Rechnung "März" فاتورة.pdf', contentType: 'application/pdf', content: pdf }],
		}
		const { raw, email } = await delivered(written)
		const name = 'Müller, "Söhne" & 株式会社 GmbH via remit.example'
		expect(email.from).toEqual({ name, address: 'invoices@remit.example' })
		expect(email.subject).toBe(written.subject)
		expect([email.text?.trim(), email.html?.trim()]).toEqual([written.text, written.html])
		expect(email.attachments[0]?.filename).toBe(written.attachments[0]?.filename)
		expect(raw).toMatch(/^[\x20-\x7e\t\r\n]*$/)
		expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThan(999)
	})

	it('reaches an internationalised domain by its ASCII name, and a local part as it is', async () => {
		expect((await delivered({ to: 'ada@müller.example' })).raw).toMatch(/^To: ada@xn--mller-kva\.example\r$/m)
		const { to, email } = await delivered({ to: 'josé@müller.example' })
		expect([to, email.to?.[0]?.address]).toEqual([['josé@müller.example'], 'josé@müller.example'])
	})

	it.each([
		['its recipient', { to: 'josé@example.com' }],
		['a copy', { cc: ['josé@example.com'] }],
		['a hidden copy', { bcc: ['josé@example.com'] }],
		['the address for answers', { replyTo: 'josé@example.com' }],
	])('with letters outside ASCII in the local part of %s is not sent to a server without SMTPUTF8', async (_, fields) => {
		const { host, received } = await smtpServer({ hideSMTPUTF8: true })
		const { message, uncertain, recipients } = await rejected(mailer(`smtp://${host}`).send(mail(fields)))
		const answer = 'The mail server takes no letters outside ASCII before the @ (SMTPUTF8), as in josé@example.com.'
		expect({ message, uncertain }).toEqual({ message: answer, uncertain: false })
		expect(recipients).toEqual('replyTo' in fields ? [] : [{ address: 'josé@example.com', accepted: false, answer }])
		expect(received).toEqual([])
		await mailer(`smtp://${host}`).send(mail({ to: 'jose@müller.example' }))
		expect(received).toHaveLength(1)
	})

	it('names its recipients in its answers as they were written', async () => {
		const { host } = await smtpServer({
			onRcptTo: ({ address }, _, done) => done(address.startsWith('eve') ? replying(550, 'no such user') : null),
		})
		const written = mail({ to: 'ada@MÜLLER.example', cc: ['eve@müller.example'], replyTo: 'ada@müller.example' })
		expect(await mailer(`smtp://${host}`).send(written)).toEqual([
			{ address: 'ada@MÜLLER.example', accepted: true, answer: null },
			{ address: 'eve@müller.example', accepted: false, answer: '550 no such user' },
		])
	})

	it('has internationalised domains in ASCII all the way: in the commands, in its headers and in its id', async () => {
		const lines: string[] = []
		const host = await tcpServer((socket) => {
			socket.write('220 hello\r\n')
			let isText = false
			createInterface(socket).on('line', (line) => {
				lines.push(line)
				isText = line === 'DATA' || (isText && line !== '.')
				if (!isText || line === 'DATA') socket.write(isText ? '354 go on\r\n' : '250 fine\r\n')
			})
		})
		const opened = openMailer({ SMTP_URL: `smtp://${host}`, MAIL_FROM: 'rechnung@müller.example' })
		closers.push(() => opened.close())
		const copies = { cc: ['a@例え.テスト'], bcc: ['b@ÜBER.example'], replyTo: 'c@größe.example' }
		await opened.send(mail({ to: 'ada@MÜLLER.example', ...copies, messageId: opened.messageId('mail_1') }))
		expect(lines.filter((line) => /^(MAIL|RCPT) /.test(line))).toEqual([
			'MAIL FROM:<rechnung@xn--mller-kva.example>',
			...['ada@xn--mller-kva.example', 'a@xn--r8jz45g.xn--zckzah', 'b@xn--ber-goa.example'].map((to) => `RCPT TO:<${to}>`),
		])
		for (const header of ['To: ada@xn--mller-kva.example', 'Cc: a@xn--r8jz45g.xn--zckzah', 'Reply-To: c@xn--gre-6ka8i.example']) {
			expect(lines).toContain(header)
		}
		expect(lines).toContain('Message-ID: <mail_1@xn--mller-kva.example>')
		expect(lines.filter((line) => /[^ -~]/.test(line))).toEqual([])
	})
})

describe('what comes from data', () => {
	const injected = 'x\r\nBcc: eve@evil.example\r\n\r\n<script>'

	it('cannot add a header or a recipient', async () => {
		const { to, email, raw } = await delivered({
			senderName: `${injected}\0`,
			subject: `${injected}\nX-Evil: 1\u2028X-Evil: 2\u0085`,
			text: injected,
			attachments: [{ filename: `a"; x=${injected}.pdf`, contentType: 'application/pdf', content: pdf }],
		})
		expect(headerNames(email)).toEqual(allHeaders)
		expect(to).toEqual(['ada@example.com'])
		expect(email.from).toMatchObject({
			name: 'x Bcc: eve evil.example script via remit.example',
			address: 'invoices@remit.example',
		})
		expect(email.subject).toBe('x Bcc: eve@evil.example <script> X-Evil: 1 X-Evil: 2')
		expect(email.attachments.map(({ filename }) => filename)).toEqual(['a"; x=x Bcc: eve@evil.example <script>.pdf'])
		expect(email.text?.replaceAll('\r\n', '\n').trim()).toBe(injected.replaceAll('\r\n', '\n'))
		const names = [...raw.matchAll(/(?<=\r\n)([A-Za-z-]+):/g)].map(([, name]) => name)
		// The text part itself says Bcc:, after the blank line that ends its headers.
		expect(names.filter((name) => !allHeaders.includes(name as string)).sort()).toEqual(
			['Bcc', 'Content-Disposition', ...Array(3).fill('Content-Transfer-Encoding')].sort(),
		)
	})

	it.each([
		['support@paypal.example', 'support paypal.example via remit.example'],
		['PayPal <support＠paypal.example>', 'PayPal support paypal.example via remit.example'],
		['\u202eelpmaxe.moc\u202c\u2066Ltd\u2069', 'elpmaxe.moc Ltd via remit.example'],
		[`Bank${' '.repeat(300)}of`, 'Bank of via remit.example'],
		['Long '.repeat(40), `${'Long '.repeat(13).slice(0, 64).trim()} via remit.example`],
		['<@>\r\n', 'remit.example'],
		['', 'remit.example'],
	])('cannot look like another sender: %j', async (senderName, shown) => {
		const { email } = await delivered({ senderName })
		expect(email.from).toEqual({ name: shown, address: 'invoices@remit.example' })
	})

	it.each([
		'',
		'ada',
		'@example.com',
		'ada@',
		'ada@example.com\r\nBcc: eve@evil.example',
		'ada@example.com\n',
		'ada@example.com\0',
		'ada@example.com, eve@evil.example',
		'ada@example.com;eve@evil.example',
		'Ada <ada@example.com>',
		'<ada@example.com>',
		'ada@example.com@evil.example',
		'ada @example.com',
		'"eve@evil.example"@example.com',
		'ada(eve@evil.example)@example.com',
		'team:ada@example.com;',
		'ada@example.com\u202e',
		`${'a'.repeat(243)}@example.com`,
	])('is refused as an address when it is not just one: %j', async (address) => {
		const { host, received } = await smtpServer()
		const { send } = mailer(`smtp://${host}`)
		expect((await rejected(send(mail({ to: address })))).message).toMatch(/^The recipient must be one e-mail address/)
		expect((await rejected(send(mail({ replyTo: address })))).message).toMatch(/^The address for answers must be one/)
		expect(received).toEqual([])
	})
})

describe('a mail server that refuses', () => {
	it.each<[string, SMTPServerOptions, string]>([
		['the sender', { onMailFrom: (_, __, done) => done(replying(550, 'sender unknown')) }, '550 sender unknown'],
		['the recipient', { onRcptTo: (_, __, done) => done(replying(550, 'no such user')) }, '550 no such user'],
		['the recipient for now', { onRcptTo: (_, __, done) => done(replying(451, 'try again later')) }, '451 try again later'],
		[
			'the content',
			{ onData: (s, _, done) => s.resume().on('end', () => done(replying(554, 'looks like spam'))) },
			'554 looks like spam',
		],
		[
			'the content for now',
			{ onData: (s, _, done) => s.resume().on('end', () => done(replying(452, 'disk full'))) },
			'452 disk full',
		],
		['everybody', { onConnect: (_, done) => done(replying(554, 'not today')) }, '554 not today'],
	])('%s is quoted', async (_, options, reply) => {
		const { host } = await smtpServer(options)
		const error = await rejected(mailer(`smtp://${host}`).send(mail()))
		expect(error.message).toBe(`The mail server answered "${reply}".`)
		expect(error.cause).toBeInstanceOf(Error)
	})

	it('the recipient after it has the mail, as LMTP does, is quoted', async () => {
		const { host } = await smtpServer({
			lmtp: true,
			onData: (stream, _, done) => stream.resume().on('end', () => done(null, [replying(552, 'mailbox full')] as never)),
		})
		const { message } = await rejected(mailer(`smtp://${host}?lmtp=true`).send(mail()))
		expect(message).toBe('The mail server answered "552 mailbox full".')
	})

	it('in many lines with control characters is quoted in one line', async () => {
		const host = await tcpServer((socket) => socket.write('554-go\x07 away\r\n554 and stay there\r\n'))
		const { message } = await rejected(mailer(`smtp://${host}`).send(mail()))
		expect(message).toBe('The mail server answered "554-go  away 554 and stay there".')
	})
})

describe('a mail server that fails', () => {
	it.each<[string, (socket: Socket) => void]>([
		['never greets', () => {}],
		['greets and falls silent', (socket) => socket.write('220 hello\r\n')],
		['never comes to an end', (socket) => socket.write('220-hello\r\n')],
	])('and %s is given up after the time it has', async (_, onConnection) => {
		const host = await tcpServer(onConnection)
		const { message } = await rejected(mailer(`smtp://${host}`, 100).send(mail()))
		expect(message).toBe('The mail server did not answer in 0.1 seconds.')
	})

	it('to say whether it took the mail is given up after the time it has', async () => {
		const { host } = await smtpServer({ onData: (stream) => stream.resume() })
		const { message } = await rejected(mailer(`smtp://${host}`, 300).send(mail()))
		expect(message).toBe('The mail server did not answer in 0.3 seconds.')
	})

	it('by hanging up at once or mid-way has dropped the connection', async () => {
		const dropped = 'The mail server dropped the connection.'
		const atOnce = await tcpServer((socket) => socket.destroy())
		expect((await rejected(mailer(`smtp://${atOnce}`).send(mail()))).message).toBe(dropped)
		const afterEhlo = await tcpServer((socket) => socket.on('data', () => socket.resetAndDestroy()).write('220 hello\r\n'))
		expect((await rejected(mailer(`smtp://${afterEhlo}`).send(mail()))).message).toBe(dropped)
		const { host, server } = await smtpServer({
			onData: (stream) =>
				stream.once('data', () => {
					for (const connection of server.connections) connection.close()
				}),
		})
		expect((await rejected(mailer(`smtp://${host}`).send(mail()))).message).toBe(dropped)
	})

	it('to be there refuses the connection', async () => {
		const { host, server } = await smtpServer()
		await new Promise<void>((resolve) => server.close(resolve))
		const { message } = await rejected(mailer(`smtp://${host}`).send(mail()))
		expect(message).toBe('The mail server refused the connection.')
	})

	it('in one mail is asked again for the next', async () => {
		let attempts = 0
		const { host, received } = await smtpServer({
			onRcptTo: (_, __, done) => done(++attempts === 1 ? replying(451, 'greylisted') : null),
		})
		const { send } = mailer(`smtp://${host}`)
		await rejected(send(mail()))
		await send(mail())
		expect(received).toHaveLength(1)
	})

	it('no longer holds up a server that stops', async () => {
		let connected = () => {}
		const connection = new Promise<void>((resolve) => {
			connected = resolve
		})
		const host = await tcpServer(() => connected())
		const { send, close } = mailer(`smtp://${host}`)
		const sending = rejected(send(mail()))
		await connection
		close()
		expect((await sending).message).toBe('The server stopped before the mail server had answered.')
	})
})

describe('a user name and password', () => {
	const password = 'p@ss:w/rd%20ü'
	const login: SMTPServerOptions = {
		authOptional: false,
		disabledCommands: ['STARTTLS'],
		onAuth: ({ username, password: given }, _, done) =>
			done(null, username === 'remit' && given === password ? { user: 'remit' } : {}),
	}

	it('in the URL sign in', async () => {
		const { host, received } = await smtpServer(login)
		await mailer(`smtp://remit:${encodeURIComponent(password)}@${host}`).send(mail())
		expect(received[0]?.user).toBe('remit')
	})

	it('that are wrong are said to be, and shown nowhere', async () => {
		const { host } = await smtpServer(login)
		const error = await rejected(mailer(`smtp://remit:s3cret-wr0ng@${host}`).send(mail()))
		expect(error.message).toBe('The mail server refused the user name or password (535).')
		expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/s3cret|czNjcmV0|smtp:\/\//)
	})
})

describe('encryption', () => {
	const trusting = 'tls.rejectUnauthorized=false'

	it('is used from the start with smtps, and with smtp once the server offers it', async () => {
		const implicit = await smtpServer({ secure: true })
		await mailer(`smtps://${implicit.host}?${trusting}`).send(mail())
		const offered = await smtpServer({ disabledCommands: ['AUTH'] })
		await mailer(`smtp://${offered.host}?${trusting}`).send(mail())
		expect([implicit, offered].map(({ received }) => received[0]?.secure)).toEqual([true, true])
	})

	it('can be required of a server that does not offer it', async () => {
		const { host, received } = await smtpServer()
		await rejected(mailer(`smtp://${host}?requireTLS=true`).send(mail()))
		expect(received).toEqual([])
	})

	it('with a certificate nobody vouches for is refused', async () => {
		const implicit = await smtpServer({ secure: true })
		const offered = await smtpServer({ disabledCommands: ['AUTH'] })
		for (const url of [`smtps://${implicit.host}`, `smtp://${offered.host}`]) {
			const { message } = await rejected(mailer(url).send(mail()))
			expect(message).toMatch(/^The mail server cannot be used \([A-Z_]*CERT[A-Z_]*\)\.$/)
		}
		expect([...implicit.received, ...offered.received]).toEqual([])
	})

	it('that breaks off is not gone on without', async () => {
		const replies = ['250-hello\r\n250 STARTTLS\r\n', '220 go on\r\n']
		const host = await tcpServer((socket) => {
			socket.write('220 hello\r\n')
			socket.on('data', () => {
				const reply = replies.shift()
				if (reply) socket.write(reply)
				else socket.destroy()
			})
		})
		const { message } = await rejected(mailer(`smtp://${host}`).send(mail()))
		expect(message).toBe('The mail server dropped the connection.')
	})
})

describe('a folder', () => {
	async function newFolder() {
		const folder = await mkdtemp(join(tmpdir(), 'remit-mail-'))
		closers.push(() => rm(folder, { recursive: true }))
		return folder
	}

	it('gets each mail as a file that reads as it was written', async () => {
		const folder = join(await newFolder(), 'in', 'here')
		const { transport, configured, from, missing, send } = openMailer({ SMTP_URL: `file:${folder}`, MAIL_FROM: '' })
		expect({ transport, configured, from, missing }).toEqual({
			transport: 'file',
			configured: true,
			from: 'invoices@localhost',
			missing: [],
		})
		await Promise.all([
			send(mail({ messageId: '<mail_1@localhost>', text: 'One\nTwo\r\nThree' })),
			send(mail({ messageId: '<mail_2@localhost>', text: 'Zwölf\nDreizehn' })),
		])
		const files = await readdir(folder)
		expect(files).toHaveLength(2)
		const emails: Email[] = []
		for (const file of files) {
			expect(file).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-mail_[12]@localhost\.eml$/)
			const raw = await readFile(join(folder, file))
			expect(raw.toString('latin1')).not.toMatch(/[^\r]\n|\r(?!\n)/)
			emails.push(await PostalMime.parse(raw))
		}
		const texts = emails.map(({ text }) => text?.replaceAll('\r\n', '\n').trim())
		expect(texts.sort()).toEqual(['One\nTwo\nThree', 'Zwölf\nDreizehn'])
		expect(headerNames(emails[0] as Email)).toEqual(allHeaders)
		expect(Buffer.from(emails[0]?.attachments[0]?.content as ArrayBuffer).equals(pdf)).toBe(true)
	})

	it('may be a file URL, and MAIL_FROM goes before the default', async () => {
		const folder = join(await newFolder(), 'with blank')
		await openMailer({ SMTP_URL: pathToFileURL(folder).href, MAIL_FROM: 'me@remit.example' }).send(mail())
		const [file] = await readdir(folder)
		expect(file).toMatch(/@remit\.example\.eml$/)
	})

	it('takes an address of 254 characters', async () => {
		const folder = await newFolder()
		const to = `${'a'.repeat(242)}@example.com`
		await mailer(`file:${folder}`).send(mail({ to }))
		const [file] = await readdir(folder)
		expect((await PostalMime.parse(await readFile(join(folder, file as string)))).to?.[0]?.address).toBe(to)
	})

	it('that cannot be written says so', async () => {
		const folder = await newFolder()
		await writeFile(join(folder, 'taken'), '')
		const { message } = await rejected(mailer(`file:${join(folder, 'taken')}`).send(mail()))
		expect(message).toMatch(/^The mail could not be written to its folder \((EEXIST|ENOTDIR)\)\.$/)
	})
})

describe('settings', () => {
	it.each([
		[{ SMTP_URL: '', MAIL_FROM: '' }, 'none', null, ['SMTP_URL', 'MAIL_FROM']],
		[{ SMTP_URL: '', MAIL_FROM: 'a@remit.example' }, 'none', 'a@remit.example', ['SMTP_URL']],
		[{ SMTP_URL: 'smtp://localhost', MAIL_FROM: '' }, 'smtp', null, ['MAIL_FROM']],
	])('%j name what is missing, and nothing is sent', async (given, transport, from, missing) => {
		const opened = openMailer(given)
		expect(opened).toMatchObject({ transport, from, missing, configured: false })
		const { message } = await rejected(opened.send(mail()))
		for (const name of missing) expect(message).toContain(name)
	})

	it.each(['http://localhost', 'smtp:', 'smtp://', 'file:', 'localhost:25', 'smtp://u:s3cret@host:port'])(
		'%s is refused',
		(url) => {
			expect(() => openMailer({ SMTP_URL: url, MAIL_FROM: '' })).toThrow(/^SMTP_URL: must be (?!.*s3cret)/)
		},
	)

	it.each([
		['Remit Cloud <a@remit.example>', 'Ada Ltd', 'Ada Ltd via Remit Cloud'],
		['"Remit Cloud" <a@remit.example>', 'Ada Ltd', 'Ada Ltd via Remit Cloud'],
		['Ada Ltd <a@remit.example>', 'Ada Ltd', 'Ada Ltd'],
		['<a@remit.example>', 'Ada Ltd', 'Ada Ltd via remit.example'],
	])('MAIL_FROM as %s names the operator', async (MAIL_FROM, senderName, name) => {
		const { host, received } = await smtpServer()
		const opened = openMailer({ SMTP_URL: `smtp://${host}`, MAIL_FROM })
		expect(opened.from).toBe('a@remit.example')
		await opened.send(mail({ senderName }))
		expect(received[0]?.email.from).toEqual({ name, address: 'a@remit.example' })
	})

	it.each(['Remit', 'Remit <a>', 'a@b@c <a@remit.example>', 'a@remit.example <b@remit.example>', 'a@x.example, b@x.example'])(
		'MAIL_FROM as %s is refused',
		(MAIL_FROM) => {
			expect(() => openMailer({ SMTP_URL: '', MAIL_FROM })).toThrow(/^MAIL_FROM: must be one address/)
		},
	)
})
