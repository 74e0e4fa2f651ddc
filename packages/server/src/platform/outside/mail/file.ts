// Writes each mail to a folder as an RFC 5322 file, for development and for mail systems that pick files up. A file gets its
// name only when it is whole and on disk.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTransport } from 'nodemailer'
import { type Delivery, MailError } from './delivery.ts'

export function folderDelivery(url: string): Delivery {
	const folder = folderOf(url)
	const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
	return {
		async deliver(message, recipients) {
			const { message: content, messageId } = await composer.sendMail(message)
			const time = new Date().toISOString().replaceAll(':', '-')
			await write(folder, `${time}-${messageId.replace(/[^\w.@-]/g, '')}.eml`, content as Buffer)
			return recipients.map((address) => ({ address, accepted: true, answer: null }))
		},
		close() {},
	}
}

const folderOf = (url: string) => (/^file:\/\//i.test(url) ? fileURLToPath(url) : resolve(url.slice('file:'.length)))

/** The files of a folder by the ids of their mails, with which their `Message-ID` begins; none when mail does not become files. */
export async function listMailFiles(url: string): Promise<ReadonlyMap<string, string>> {
	if (!/^file:/i.test(url)) return new Map()
	const folder = folderOf(url)
	const names = await readdir(folder).catch((error) => {
		if (error.code === 'ENOENT') return []
		throw error
	})
	return new Map(
		names.flatMap((name) => [...(/Z-(mail_[^@]+)@.*\.eml$/.exec(name)?.slice(1) ?? [])].map((id) => [id, join(folder, name)])),
	)
}

async function write(folder: string, name: string, content: Buffer): Promise<void> {
	try {
		await mkdir(folder, { recursive: true })
		await writeWhole(folder, name, content)
	} catch (cause) {
		const { code = 'unknown error' } = cause as NodeJS.ErrnoException
		throw new MailError(`The mail could not be written to its folder (${code}).`, { cause })
	}
}

async function writeWhole(folder: string, name: string, content: Buffer): Promise<void> {
	const unfinished = join(folder, `.${randomUUID()}.tmp`)
	try {
		const file = await open(unfinished, 'wx')
		try {
			await file.writeFile(content)
			await file.sync()
		} finally {
			await file.close()
		}
		await rename(unfinished, join(folder, name))
	} catch (error) {
		await rm(unfinished, { force: true })
		throw error
	}
}
