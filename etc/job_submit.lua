-- /etc/slurm/job_submit.lua on the controller: a sample for sites that have none. A site that has
-- one adds the dofile line to it, and the two calls below as the last statement of each function.

-- luacheck: read globals slurm
-- luacheck: globals slurm_job_submit slurm_job_modify
local pm = dofile("/usr/share/slurm-pmem/pmem.lua")

-- The controller's version, which Lua cannot ask Slurm for. From 23.02 on a job may combine a mode with '|'
-- and '()'. If the version here is too high, Slurm refuses such jobs with 'Invalid feature specification'.
--pm.slurm_version = 24.11

-- Users are told at submission when nodes must reboot before their job starts. False: they are not.
--pm.tells_reboots = false

-- The site's decisions for jobs: modes, defaults, memory in each mode, users who may cause a reboot. The
-- file is read again when it changes; slurmctld's user must be able to read it.
pm.config_file = "/etc/slurm/pmem.conf"

function slurm_job_submit(job_desc, part_list, submit_uid)
	return pm.submit(job_desc, part_list, submit_uid)
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
	return pm.modify(job_desc, job_rec, part_list, modify_uid)
end

return slurm.SUCCESS
