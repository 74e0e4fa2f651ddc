// Links to pages of the application by which a person comes in. Their secret stands behind `#`: it reaches no log and no `Referer`.

export const invitationPath = (token: string): string => `/app/invite#${token}`

export const resetPath = (token: string): string => `/app/reset#${token}`
