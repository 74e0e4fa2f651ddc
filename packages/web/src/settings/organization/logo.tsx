import type { LogoFile } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { describe } from '../../api/errors.ts'
import { failureOf } from '../../api/pages.ts'
import { read, useWrite } from '../../api/query.ts'
import { Button } from '../../ui/button.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { toast } from '../../ui/toast.ts'
import '../../ui/field.css'
import './look.css'

interface LogoProps {
	/** It has made a version of the organization. */
	readonly onChanged: () => void
}

/** The logo is saved at once, beside the form: its bytes are in no draft. */
export function Logo({ onChanged }: LogoProps) {
	const logo = useQuery(read('organization.logo.get'))
	return (
		<Loaded data={logo.data} failure={failureOf(logo)} rows={1}>
			{(data) => <LogoField file={data} onChanged={onChanged} />}
		</Loaded>
	)
}

const mediaTypes = { png: 'image/png', jpeg: 'image/jpeg', svg: 'image/svg+xml' } as const

function LogoField({ file: { logo, data }, onChanged }: LogoProps & { file: LogoFile }) {
	const picker = useRef<HTMLInputElement>(null)
	const [problem, setProblem] = useState<string>()
	const put = useWrite('organization.logo.replace')
	const remove = useWrite('organization.logo.delete')
	const explain = (error: unknown) => setProblem(describe(error).advice)
	const changed = (done: string, undo?: Parameters<typeof toast>[1]) => {
		toast(done, undo)
		onChanged()
	}
	const save = (bytes: string, done: string) => {
		setProblem(undefined)
		put.mutate([{ data: bytes }], { onSuccess: () => changed(done), onError: explain })
	}
	const take = async (chosen: File) => {
		const wrong = logoProblem(chosen)
		if (wrong) setProblem(wrong)
		else save(await base64Of(chosen), 'The logo was saved')
	}
	const drop = (bytes: string) => {
		setProblem(undefined)
		const undo = { label: 'Undo', onPress: () => save(bytes, 'The logo is back') }
		remove.mutate([], { onSuccess: () => changed('The logo was removed', undo), onError: explain })
	}
	return (
		<div className="field">
			<span className="label">Logo</span>
			{logo && data && (
				<div>
					<img
						className="look-logo"
						alt={`Logo, ${logo.width} × ${logo.height} pixels`}
						src={`data:${mediaTypes[logo.format as keyof typeof mediaTypes]};base64,${data}`}
					/>
				</div>
			)}
			<div className="look">
				<input
					ref={picker}
					type="file"
					className="hidden"
					tabIndex={-1}
					aria-label="File of the logo"
					accept={Object.values(mediaTypes).join()}
					onChange={({ target }) => {
						const [chosen] = target.files ?? []
						if (chosen) void take(chosen)
						// So that the same file can be chosen again.
						target.value = ''
					}}
				/>
				<Button icon={<ImageUp />} isPending={put.isPending} onPress={() => picker.current?.click()}>
					{logo ? 'Replace logo' : 'Upload logo'}
				</Button>
				{data && (
					<Button icon={<Trash2 />} isPending={remove.isPending} onPress={() => drop(data)}>
						Remove logo
					</Button>
				)}
			</div>
			{problem ? (
				<span role="alert" className="field-note field-error">
					{problem}
				</span>
			) : (
				<span className="field-note">A PNG, a JPEG or an SVG of at most 1 MB. It is saved at once.</span>
			)}
		</div>
	)
}

const base64Of = (file: File) =>
	new Promise<string>((resolve, reject) => {
		const reader = new FileReader()
		reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
		reader.onerror = () => reject(reader.error)
		reader.readAsDataURL(file)
	})

const maxBytes = 1024 * 1024

/** What is wrong with a file before it is sent; the server looks into it. */
function logoProblem({ name, type, size }: { name: string; type: string; size: number }): string | undefined {
	if (!/^image\/(png|jpeg|svg\+xml)$/.test(type)) return `${name} is no PNG, JPEG or SVG.`
	if (size > maxBytes) return `${name} has ${(size / maxBytes).toFixed(1)} MB; a logo may have 1 MB.`
	return undefined
}
